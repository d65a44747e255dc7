// One round of passes, by the kind of schedule.
#pragma once

#include <vector>

#include "sim/plan/schedule.h"

namespace sim::plan {

// Of one stage. REQUIRES: a kind whose order does not depend on durations, and is no table.
std::vector<Pass> order(ScheduleKind kind, const Schedule& s, int stage);

// `warm_up` forward passes, then one backward after each forward, then the remaining ones. With
// `weight_delay`, weight gradients come apart, so many backward passes later, or as soon as no
// forward pass is left.
std::vector<Pass> one_forward_one_backward(int warm_up, int micro_batches,
                                           std::optional<int> weight_delay = {});

std::vector<Pass> zero_bubble_v(int stages, int micro_batches, int stage);
std::vector<Pass> dual_pipe(int stages, int micro_batches, int stage);
std::vector<Pass> dual_pipe_v(int stages, int micro_batches, int stage);

// Of all stages: the best of several greedy plans in which no stage holds the activations of more
// than `held_max` micro-batches.
std::vector<std::vector<Pass>> planned(const Schedule& s, int held_max, const PassTimes& times);

}  // namespace sim::plan
