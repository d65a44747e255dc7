// The fastest plans of a space, provably: bounds decide what need not be simulated.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

// Never more than what simulate() gives [ps]. With a flush: a stage computes its passes one after
// the other; its first one waits for a forward pass of all parts before, and after its last one a
// backward pass of all parts before remains.
//   max over stages s of  sum over parts before s of (F + B)  +  m * sum over parts of s of (F + B)
// Communication, launches, the optimizer: free. 0 where durations vary.
// Worked: 4 stages, 8 micro-batches, F = 1 ms, B = 2 ms: 3 x 3 + 8 x 3 = 33 ms.
// REQUIRES: a transformer; the plan has no problems.
class LowerBound {
 public:
  explicit LowerBound(const Job& job);
  ~LowerBound();
  std::int64_t of(const plan::Plan& plan);

 private:
  struct Works;
  const Works& works_of(const plan::Plan& plan);
  const Job& job_;
  std::vector<std::pair<plan::Plan, std::unique_ptr<Works>>> known_;
};

// The best plans are those that simulating all would give, in the same order; so many threads
// change nothing. REQUIRES: a transformer.
SearchResult search(const Job& job, const PlanSpace& space, int threads);

// "plan.tensor=4 plan.pipeline.stages=2 ...": what --set takes.
std::string overrides_text(const plan::Plan& plan);

}  // namespace sim::training
