// The order of forward and backward passes on each pipeline stage.
#pragma once

#include <vector>

#include "sim/plan/plan.h"

namespace sim::plan {

struct Pass {
  enum class Kind { forward, backward };
  Kind kind = Kind::forward;
  int micro_batch = 0;
  int virtual_stage = 0;  // on this stage: 0 .. virtual_stages - 1
  bool operator==(const Pass&) const = default;
};

// Passes of one stage, in order.
// GPipe: all forward, then all backward. 1F1B: min(m, p - 1 - stage) warm-up forwards, then pairs.
// Interleaved: Megatron-LM's order: warm-up min(m v, 2 (p - stage - 1) + (v - 1) p), then pairs;
// groups of p micro-batches, each through all virtual stages, backward from the last one on.
// (Earlier versions took everything as warm-up when m = p, which takes as long and holds more.)
// Without communication all take (m + p - 1)(F + B), interleaved (m v + p - 1)(F + B) / v.
// Worked: p = 4, m = 8, v = 2, F = 1 ms, B = 2 ms: 33 ms; interleaved 19 x 3 / 2 = 28.5 ms.
// Source: Narayanan et al., SC '21, section 2.2; Megatron-LM core/pipeline_parallel/schedules.py,
// get_pp_rank_microbatches, get_schedule_table.
// REQUIRES: interleaved: stages divide micro_batches; else: virtual_stages = 1.
std::vector<Pass> schedule(ScheduleKind kind, int stages, int virtual_stages, int micro_batches,
                           int stage);

// Largest number of (micro-batch, virtual stage) pairs whose activations a stage holds at once:
// GPipe m, 1F1B min(m, p - stage), interleaved min(m v, warm-up + 1).
int activations_in_flight_max(const std::vector<Pass>& passes);

}  // namespace sim::plan
