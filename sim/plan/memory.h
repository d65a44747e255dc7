// Device memory of each pipeline stage's ranks, by category, at the peak.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/plan/schedule.h"

namespace sim::plan {

// Of a parameter.
inline constexpr double weight_bytes = 2;      // bf16, fp16
inline constexpr double optimizer_bytes = 12;  // fp32 master weight and two moments of Adam

// What a rank keeps in its host's memory, all of it pinned.
struct HostBytes {
  Bytes optimizer;   // states
  Bytes gradients;   // as they arrive
  Bytes parameters;  // as they go back
  Bytes activations;
  Bytes total() const { return optimizer + gradients + parameters + activations; }
};

struct MemoryBreakdown {
  Bytes weights, gradients, optimizer, activations, other;
  HostBytes host;  // not on the device
  Bytes peak() const { return weights + gradients + optimizer + activations + other; }
};

// Bytes are whole numbers, of one rank of the stage, for 16-bit weights and Adam in fp32.
//   weights 2, gradients 4 (or 2: stack.gradient_fp32), optimizer 12 bytes a parameter; ZeRO-1, 2,
//               3 divide the last, the last two, all by the ranks of a shard group (data x context
//               unless there are several copies), those of routed experts
//               by the replicas of the experts; the share of the optimizer that is offloaded is on
//               the host, with a copy of its gradients and 2 bytes a parameter; a schedule with
//               several versions of the weights holds as many
//   activations what the schedule keeps at its worst moment: layers of each virtual stage, the
//               embedding's with the first and the head's with the last part of the dnn; where
//               weight gradients come apart, their operands until then
//               offloaded layers: on the device two times plan.offload.buffers of them at most, on
//               the host all that the schedule keeps
//   other       the larger of a layer's and the loss's temporaries; ZeRO-3: prefetch_layers + 1
//               units gathered, or all without reshard_after_forward; ZeRO-2, 3: gradients not yet
//               reduced (a bucket, a unit); the stack's reserve and, of the sum of all but the
//               reserve, its fragmentation
// A tied embedding, or one that multi-token prediction needs, has a copy on the last stage where
// there are several.
// Where the routing is not even, of the rank whose experts get the most rows in some layer and
// micro-batch, as if it got them in all.
// REQUIRES: problems() finds none.
MemoryBreakdown memory(const Plan& plan, const dnn::Transformer& dnn,
                       const dnn::SoftwareStack& stack, int stage);
// The same of every stage; of replicas that are not alike, of those of the first kind, then of the
// next.
std::vector<MemoryBreakdown> memory_of_stages(const Plan& plan, const dnn::Transformer& dnn,
                                              const dnn::SoftwareStack& stack);

// Activations of a stage while a pass runs, at the most, and after it.
struct HeldActivations {
  Bytes during, after;
  Bytes on_host;  // after it, of what is offloaded
};
// [pass of the stage] in this schedule; the largest of them is what memory() counts.
std::vector<HeldActivations> held_activations(const Plan& plan, const dnn::Transformer& dnn,
                                              const dnn::SoftwareStack& stack,
                                              const Schedule& schedule, int stage);

// What would make every stage fit: one change at a time (sharding, recompute, micro-batch, tensor,
// pipeline; the last two at the cost of data), of each kind the smallest that fits, with its peak.
struct Remedy {
  std::string change;  // "plan.recompute: full"
  Bytes peak;
};
std::vector<Remedy> remedies(const Plan& plan, const dnn::Transformer& dnn,
                             const dnn::SoftwareStack& stack, Bytes capacity, int devices);

}  // namespace sim::plan
