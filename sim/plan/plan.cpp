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

std::vector<int> layers_per_virtual_stage(const Plan& plan, int layers) {
  if (!plan.layers.empty()) return plan.layers;
  const int parts = plan.stages * plan.virtual_stages;
  invariant(parts >= 1, "a plan has no stage");
  std::vector<int> result(static_cast<std::size_t>(parts), layers / parts);
  for (int part = 0; part < layers % parts; ++part) ++result[static_cast<std::size_t>(part)];
  return result;
}

}  // namespace sim::plan
