// The order of passes on each pipeline stage, and where the parts of the dnn are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/plan.h"

namespace sim::plan {

// Relative durations, for schedules that are planned by them. Of a whole stage.
struct PassTimes {
  double forward = 1, backward_input = 1, backward_weight = 1, transfer = 0;
};

// Rounds at the end whose updates are not where they would be if more followed.
constexpr int trailing_rounds_of(int staleness) { return staleness > 0 ? staleness + 1 : 0; }

// The passes of every stage. A round is what one optimizer step is for; without a flush several
// rounds are listed, each with its update where the stage takes the step.
struct Schedule {
  Arrangement arrangement = Arrangement::loop;
  int stages = 1, virtual_stages = 1;
  int micro_batches = 1;  // of a round
  int rounds = 1;
  bool splits_backward = false;
  bool flushes = true;      // all stages end a round before the next begins
  int weight_versions = 1;  // held at once
  int staleness = 0;        // optimizer steps by which the weights of a gradient are old
  std::vector<std::vector<Pass>> passes;  // [stage]

  int trailing_rounds() const { return trailing_rounds_of(staleness); }
  int parts() const {
    return arrangement == Arrangement::both_ways ? stages : stages * virtual_stages;
  }
  // Of the dnn's parts, in model order.
  int part(int stage, int virtual_stage) const;
  // The stage that holds a part, as the micro-batches of this virtual stage see it.
  int stage_of(int part, int virtual_stage) const;
  // Where what a pass computes goes, and where what it needs comes from: to the stage behind (or
  // the first), to the one before (or the last), stays, or nowhere.
  enum class Neighbour { none, same, next, previous };
  Neighbour target(int stage, const Pass& pass) const;
  // The pass that this one waits for on another stage, or on this one; no stage: the input.
  struct Source {
    Neighbour from = Neighbour::none;
    int stage = 0, virtual_stage = 0;
  };
  Source source(int stage, const Pass& pass) const;
};

bool flushes(const Plan& plan);
bool splits_backward(const Plan& plan);
int staleness(const Plan& plan);

// The schedule of a plan for so many rounds (one, with a flush). `times` matter to zb-1p and zb-2p.
//   gpipe             all forward, then all backward
//   1f1b              min(m, p - 1 - stage) warm-up forwards, then pairs
//   interleaved       Megatron-LM's order: warm-up min(m v, 2 (p - stage - 1) + (v - 1) p), then
//                     pairs; groups of p micro-batches, each through all virtual stages, backward
//                     from the last one on; the last group takes what is left over, too
//   zb-h1, zb-h2      1F1B with the weight gradients put off until they fill the bubble, within
//                     the memory of 1F1B, or within twice as much
//   zb-1p, zb-2p      the same limits, planned for these durations
//   zb-v              two virtual stages in a V, the memory of 1F1B
//   dual-pipe(-v)     micro-batches from both ends; with -v each stage holds two half parts
//   2bw, wave         1F1B that goes on: each round computes with the weights of the round before
//                     the last (`staleness` more with wave)
// Without communication GPipe, 1F1B take (m + p - 1)(F + B), interleaved (m v + p - 1)(F + B) / v
// where p divides m; zb-h1 a bubble of (p - 1)(F + B - 2W) on the first stage, zb-h2 and zb-v none
// if F = B = W and m >= 2 p - 1, 2 p.
// Worked: p = 4, m = 8, v = 2, F = 1 ms, B = 2 ms: 33 ms; interleaved 19 x 3 / 2 = 28.5 ms.
// Sources: Narayanan et al., SC '21, section 2.2; Megatron-LM core/pipeline_parallel/schedules.py;
// Qi et al., ICLR 2024 and arXiv 2405.15362 (zero bubble); DeepSeek-V3, arXiv 2412.19437, section
// 3.2.1, and github.com/deepseek-ai/DualPipe; Narayanan et al., ICML '21 (2BW); Park et al., ATC
// '20 (HetPipe).
// REQUIRES: problems() finds none.
Schedule schedule(const Plan& plan, int rounds = 1, const PassTimes& times = {});

// What is wrong with the passes of a schedule: not every micro-batch once forward and backward on
// each virtual stage, an order that never ends. The pass to blame is passes[stage][index], or
// with index -1 the whole row.
struct ScheduleFault {
  int stage = 0, index = 0;
  std::string message, why;
};
std::optional<ScheduleFault> fault(const Schedule& schedule);

// When the last pass of each stage ends, without limits of anything but order, in the unit of the
// times; `first` when its first one starts. REQUIRES: no fault.
struct StageSpan {
  double first = 0, last = 0;
};
std::vector<StageSpan> spans(const Schedule& schedule, const PassTimes& times);

// Largest number of (micro-batch, virtual stage) pairs whose activations a stage holds at once,
// until their weight gradient: GPipe m, 1F1B min(m, p - stage), interleaved min(m v, warm-up + 1).
int activations_in_flight_max(const std::vector<Pass>& passes);

// Of the kinds that a scenario names.
struct ScheduleTraits {
  ScheduleKind kind;
  const char* name;
  bool splits_backward, flushes;
  int virtual_stages;  // 0: as the plan says
};
const ScheduleTraits& traits(ScheduleKind kind);
const std::vector<ScheduleTraits>& all_schedules();

}  // namespace sim::plan
