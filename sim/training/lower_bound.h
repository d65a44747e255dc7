// How long an iteration takes at least, without simulating it.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/training/job.h"

namespace sim::training {

// Never more than what simulate() gives [ps]. With a flush: a stage computes its passes one after
// the other; its first one waits for a forward pass of all parts before, and after its last one a
// backward pass of all parts before remains.
//   max over stages s of  sum over parts before s of (F + B)  +  m * sum over parts of s of (F + B)
// F and B are those of the ranks of one replica: their operators, and collectives of their groups
// that nothing runs beside; of the others, what is longer than the operators beside. Transfers
// between stages, of gradients and parameters, launches, the optimizer: free. 0 where durations
// vary.
// Worked: 4 stages, 8 micro-batches, F = 1 ms, B = 2 ms: 3 x 3 + 8 x 3 = 33 ms.
// REQUIRES: the plan has no problems.
class LowerBound {
 public:
  explicit LowerBound(const Job& job);
  ~LowerBound();
  std::int64_t of(const plan::Plan& plan);

 private:
  class State;
  const std::unique_ptr<State> state_;
};

}  // namespace sim::training
