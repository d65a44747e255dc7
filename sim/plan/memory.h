// Device memory of each pipeline stage's ranks, by category, at the peak.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"

namespace sim::plan {

struct MemoryBreakdown {
  Bytes weights, gradients, optimizer, activations, other;
  Bytes peak() const { return weights + gradients + optimizer + activations + other; }
};

// Bytes are whole numbers. `other`: temporaries, buckets, gathered parameters, the stack's reserve
// and fragmentation.
MemoryBreakdown memory(const Plan& plan, const dnn::Transformer& dnn,
                       const dnn::SoftwareStack& stack, int stage);

// What would make it fit: tried one change at a time (recompute, ZeRO stage, micro-batch, tensor,
// pipeline), each with the peak it gives; only those that fit, smallest change first.
struct Remedy {
  std::string change;  // "plan.recompute: full"
  Bytes peak;
};
std::vector<Remedy> remedies(const Plan& plan, const dnn::Transformer& dnn,
                             const dnn::SoftwareStack& stack, Bytes capacity, int devices);

}  // namespace sim::plan
