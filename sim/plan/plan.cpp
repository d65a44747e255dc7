// Names of dimensions; layers of each virtual stage.
#include "sim/plan/plan.h"

#include "sim/base/invariant.h"

namespace sim::plan {

const char* name(Dimension dimension) {
  switch (dimension) {
    case Dimension::tensor:
      return "tensor";
    case Dimension::context:
      return "context";
    case Dimension::data:
      return "data";
    case Dimension::pipeline:
      return "pipeline";
  }
  bug("unknown dimension");
}

int Plan::ranks() const {
  if (replicas.empty()) return tensor * context * stages * data;
  int sum = 0;
  for (const Replica& replica : replicas) sum += replica.ranks();
  return sum;
}

dnn::Shard shard_of(const Plan& plan, double bytes_per_element) {
  return {.sequence = plan.sequence,
          .micro_batch = plan.micro_batch,
          .tensor = plan.tensor,
          .sequence_parallel = plan.sequence_parallel && plan.tensor > 1,
          .bytes_per_element = bytes_per_element,
          .context = plan.context,
          .context_kind = plan.context_kind,
          .expert = plan.expert,
          .expert_tensor = plan.expert_tensor};
}

dnn::Shard shard_of(dnn::Shard shard, const LayerStrategy& strategy) {
  shard.micro_batch /= shard.tensor / strategy.tensor;
  shard.tensor = strategy.tensor;
  shard.sequence_parallel = shard.sequence_parallel && strategy.tensor > 1;
  return shard;
}

bool is_both_ways(const Plan& plan) {
  const bool is_table = plan.schedule == ScheduleKind::table;
  return plan.schedule == ScheduleKind::dual_pipe ||
         (is_table && plan.table.arrangement == Arrangement::both_ways);
}

std::int64_t parts_of(const Plan& plan) {
  return is_both_ways(plan) ? plan.stages : std::int64_t{plan.stages} * plan.virtual_stages;
}

std::vector<int> layers_per_virtual_stage(const Plan& plan, int layers) {
  if (!plan.layers.empty()) return plan.layers;
  const auto parts = static_cast<int>(parts_of(plan));
  invariant(parts >= 1, "a plan has no stage");
  std::vector<int> result(static_cast<std::size_t>(parts), layers / parts);
  for (int part = 0; part < layers % parts; ++part) ++result[static_cast<std::size_t>(part)];
  return result;
}

std::vector<int> layers_per_virtual_stage(const Plan& plan, const dnn::Transformer& dnn,
                                          const dnn::SoftwareStack& stack) {
  if (!plan.layers.empty() || !stack.balances_stages) {
    return layers_per_virtual_stage(plan, dnn.layers);
  }
  const std::int64_t layer = dnn.hidden * (4 * dnn.hidden + 3 * dnn.ffn);
  const std::int64_t total = dnn.layers * layer + dnn.hidden * dnn.vocabulary;
  const std::int64_t parts = parts_of(plan);
  std::vector<int> result(static_cast<std::size_t>(parts), 0);
  std::int64_t part = 0, dealt = 0;
  for (int l = 0; l < dnn.layers; ++l) {
    ++result[static_cast<std::size_t>(part)];
    dealt += layer;
    if (part + 1 < parts && dealt * parts > total * (part + 1)) ++part;
  }
  return result;
}

}  // namespace sim::plan
