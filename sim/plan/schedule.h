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
// Interleaved: Megatron-LM's order (warm-up 2 (p - stage - 1) + (v - 1) p).
// Source: Narayanan et al., SC '21, section 2.2; Megatron-LM core/pipeline_parallel/schedules.py.
// REQUIRES: interleaved: stages divide micro_batches.
std::vector<Pass> schedule(ScheduleKind kind, int stages, int virtual_stages, int micro_batches,
                           int stage);

// Largest number of (micro-batch, virtual stage) pairs whose activations stage `stage` holds at
// once.
int activations_in_flight_max(const std::vector<Pass>& passes);

}  // namespace sim::plan
