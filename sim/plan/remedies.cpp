// What would make a plan fit: single changes, from the one that costs least.
#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/memory.h"

namespace sim::plan {
namespace {

struct Change {
  std::string text;
  Plan plan;
};
// Changes of one kind, smallest first; the first one that fits is enough.
using Kind = std::vector<Change>;

template <class Edit>
Change changed(const Plan& plan, std::string text, Edit edit) {
  Change change{std::move(text), plan};
  edit(change.plan);
  return change;
}

Kind recompute_changes(const Plan& plan) {
  Kind kind;
  if (plan.recompute == dnn::Recompute::none) {
    kind.push_back(changed(plan, "plan.recompute: selective",
                           [](Plan& p) { p.recompute = dnn::Recompute::selective; }));
  }
  if (plan.recompute != dnn::Recompute::full) {
    kind.push_back(
        changed(plan, "plan.recompute: full", [](Plan& p) { p.recompute = dnn::Recompute::full; }));
  }
  return kind;
}

Kind sharding_changes(const Plan& plan) {
  Kind kind;
  const std::pair<Sharding, const char*> all[] = {
      {Sharding::zero1, "zero-1"}, {Sharding::zero2, "zero-2"}, {Sharding::zero3, "zero-3"}};
  for (const auto& [sharding, word] : all) {
    if (sharding <= plan.sharding) continue;
    kind.push_back(changed(plan, fmt::format("plan.data.sharding: {}", word),
                           [&](Plan& p) { p.sharding = sharding; }));
  }
  return kind;
}

Kind micro_batch_changes(const Plan& plan) {
  Kind kind;
  for (std::int64_t size = plan.micro_batch - 1; size >= 1; --size) {
    if (plan.micro_batch % size != 0) continue;
    kind.push_back(changed(plan, fmt::format("training.micro_batch: {}", size),
                           [&](Plan& p) { p.micro_batch = size; }));
  }
  return kind;
}

// Ranks for these come from data parallelism.
Kind tensor_changes(const Plan& plan) {
  Kind kind;
  for (int factor = 2; factor <= plan.data; ++factor) {
    if (plan.data % factor != 0) continue;
    kind.push_back(changed(plan, fmt::format("plan.tensor: {}", plan.tensor * factor),
                           [&](Plan& p) { p.tensor *= factor, p.data /= factor; }));
  }
  return kind;
}

// Layers are written for one number of stages.
Kind pipeline_changes(const Plan& plan) {
  const char* also = plan.layers.empty() ? "" : ", without plan.pipeline.layers";
  Kind kind;
  for (int factor = 2; factor <= plan.data; ++factor) {
    if (plan.data % factor != 0) continue;
    kind.push_back(changed(
        plan, fmt::format("plan.pipeline.stages: {}{}", plan.stages * factor, also), [&](Plan& p) {
          p.stages *= factor, p.data /= factor;
          p.layers.clear();
        }));
  }
  return kind;
}

Bytes worst_peak(const Plan& plan, const dnn::Transformer& dnn, const dnn::SoftwareStack& stack) {
  Bytes worst;
  for (const MemoryBreakdown& memory : memory_of_stages(plan, dnn, stack)) {
    worst = std::max(worst, memory.peak());
  }
  return worst;
}

}  // namespace

std::vector<Remedy> remedies(const Plan& plan, const dnn::Transformer& dnn,
                             const dnn::SoftwareStack& stack, Bytes capacity, int devices) {
  std::vector<Remedy> result;
  for (const Kind& kind :
       {sharding_changes(plan), recompute_changes(plan), micro_batch_changes(plan),
        tensor_changes(plan), pipeline_changes(plan)}) {
    for (const Change& change : kind) {
      if (!problems(change.plan, dnn, devices).empty()) continue;
      const Bytes peak = worst_peak(change.plan, dnn, stack);
      if (peak > capacity) continue;
      result.push_back({change.text, peak});
      break;
    }
  }
  return result;
}

}  // namespace sim::plan
