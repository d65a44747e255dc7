// The fastest plans of a space, provably: bounds decide what need not be simulated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/training/job.h"
#include "sim/training/plan_space.h"

namespace sim::training {

struct RankedPlan {
  plan::Plan plan;
  std::int64_t iteration_ps = 0;
};

struct SearchResult {
  std::vector<RankedPlan> best;  // at most PlanSpace::top; equally fast ones in order of the space
  std::int64_t plans = 0;        // possible ones in the space
  std::int64_t fitting = 0;      // into the memory
  std::int64_t simulated = 0;
  std::int64_t too_large = 0;  // would be run rank by rank; not ranked
};

// All possible plans of the space for the job's devices, in order.
std::vector<plan::Plan> plans_of(const Job& job, const PlanSpace& space);

// The best plans are those that simulating all would give, in the same order; so many threads
// change nothing. REQUIRES: a transformer.
SearchResult search(const Job& job, const PlanSpace& space, int threads);

// "plan.tensor=4 plan.pipeline.stages=2 ...": what --set takes.
std::string overrides_text(const plan::Plan& plan);

}  // namespace sim::training
