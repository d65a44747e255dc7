// What a pass of a lane amounts to as one step.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "sim/training/compute_program.h"

namespace sim::training {

struct Launch {              // of one compute step
  Picoseconds duration = 0;  // host time
  int kernels = 0;
};

struct Segment {
  std::array<Picoseconds, category_count> parts{};
  Picoseconds tail = 0, first_launch = -1;  // tail: of the last operator
  Category tail_category = Category::compute;
  Launch launch{};
  std::vector<double> flops;  // one by one: their sum depends on the order
  std::array<Picoseconds, 4> family{};
  MergedCollectives merged;
};

using StageUnits = std::vector<std::vector<Unit>>;  // [virtual stage]

// Operators of a pass, one after the other.
using OperatorRun = std::vector<const CostedOperator*>;

// Micro-batches of a pass are alike, but for draws. `has_host`: launches take time, and the tail is
// apart. REQUIRES: collectives are of the tensor group.
Segment measured_segment(const LaneInput& in, const OperatorRun& run, bool has_host,
                         const MicroBatchDraws& draws);

// A part of a pass that is one step, or one that stays operators: a collective that lanes of
// several tensor groups share, with what runs beside it.
struct Piece {
  OperatorRun run;
  bool is_merged = true;
};
std::vector<Piece> pieces(const StageUnits& units, const plan::Pass& pass);

// Of the tensor group alone: such a collective can be part of a step.
inline bool is_of_lane(const CostedOperator& o) { return o.group == dnn::RankGroup::tensor; }

// Collectives in the passes of a stage whose groups may join several lanes.
int shared_collectives(const plan::Schedule& schedule, int stage, const StageUnits& units);

int unit_count(const StageUnits& units, const plan::Pass& pass);
// Of the unit that the pass comes to at this position.
const std::vector<CostedOperator>& operators_of(const StageUnits& units, const plan::Pass& pass,
                                                int position);

// Two kernels side by side on one device: the collective holds some multiprocessors while it runs.
Picoseconds overlapped(const LaneInput& in, Picoseconds communication, Picoseconds compute);

}  // namespace sim::training
