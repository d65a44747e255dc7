// A plan changed around slow devices: tensor groups cut so that a slow device holds up no other,
// then layers and micro-batches dealt anew.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sim/plan/uneven_split.h"

namespace sim::plan {

// A device slower than this is a straggler. Source: Malleus (see uneven_split.h), its planner.
constexpr double straggler_threshold = 1.2;

// One tensor group, devices 0 to n - 1, cut into groups whose sizes are powers of two: each
// straggler alone, the others in as few groups as there are ones in their number's binary digits.
// Such a group is the first aligned block of its size without a straggler, or else the lowest
// devices that are left. Stragglers come first, in ascending order, then the others in ascending
// size; devices of a group ascend. No straggler: one group.
// Worked: 8 devices, 5 is a straggler -> {5}, {4}, {6, 7}, {0, 1, 2, 3}.
// REQUIRES: n is a power of two.
std::vector<std::vector<int>> regroup(std::span<const double> slowdowns, double threshold);

struct UnevenJob {
  // [replica][stage][device of its tensor group]; 1 is healthy.
  std::vector<std::vector<std::vector<double>>> slowdowns;
  // What a layer takes at full degree / 2^i, relative to the full degree.
  std::vector<double> penalties;
  // Layers that a stage of this degree holds, by its index from the front.
  std::function<int(int stage, int stages, int tensor)> layers_max;
  int layers = 0, micro_batches = 0;
  Ends ends;
  bool fills = false;  // whether filling and draining pipelines counts
  double threshold = straggler_threshold;
};

// What is done to the groups of a replica that have stragglers, by how much it changes. The pieces
// of a cut group become stages, in the place of the one that it was.
enum class Change { keep, regroup, drop };  // drop: regroup, and leave stragglers out

// Where the stages of a replica that has stragglers are. A stage with few layers at the front
// leaves the many layers to stages that hold fewer micro-batches.
enum class StageOrder { in_place, slow_first, slow_last };

struct DevicePlace {
  int stage = 0, index = 0;  // in `slowdowns` of its replica
  bool operator==(const DevicePlace&) const = default;
};

struct Replanning {
  std::vector<Change> changes;  // [replica]
  StageOrder order = StageOrder::in_place;
  std::vector<std::vector<std::vector<DevicePlace>>> devices;  // [replica][stage]
  UnevenSplit split;
};
// All that can be done: all are kept, each replica has what makes its slowest stage fastest, all
// are regrouped, all leave stragglers out; each with its stages in place, then the slowest ones
// first, then last. Left out are those that do not hold the layers with as many micro-batches as
// stages or more, and those that come to the same as one before. REQUIRES: groups are of one size,
// a power of two, with a penalty for every degree below.
std::vector<Replanning> uneven_splits(const UnevenJob& job);
// The first of those with the least `longest`. None: there are none.
std::optional<Replanning> best_uneven_split(const UnevenJob& job);

}  // namespace sim::plan
