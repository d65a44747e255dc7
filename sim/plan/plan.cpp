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

}  // namespace sim::plan
