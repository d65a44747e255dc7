// Which plans can offload.
#include "sim/plan/offload.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/plan/schedule.h"

namespace sim::plan {

int Offload::layers_of(int layers) const {
  constexpr double rounding = 1e-9;  // 70 % of 10 layers are 7, though 0.7 is a little more
  return static_cast<int>(std::ceil(activations * layers - rounding));
}

std::vector<Problem> offload_problems(const Plan& plan) {
  std::vector<Problem> result;
  const auto add = [&](const char* field, const std::string& message, const std::string& why,
                       const std::string& hint) {
    result.push_back({field, "plan.pipeline.schedule", message, why, hint});
  };
  const std::string schedule = traits(plan.schedule).name;
  if (plan.offload.optimizer > 0 && !flushes(plan)) {
    add("plan.offload.optimizer",
        fmt::format("an optimizer on the host with the schedule {} without a flush", schedule),
        "the step on the CPU comes between two iterations",
        "write plan.pipeline.flush: true, or leave the optimizer on the device");
  }
  if (plan.offload.optimizer > 0 && is_both_ways(plan)) {
    add("plan.offload.optimizer",
        fmt::format("an optimizer on the host with the schedule {}", schedule),
        "steps of two copies of every part in one pipeline are not modelled on the host",
        "choose another schedule, such as dual-pipe-v");
  }
  if (plan.offload.activations > 0 && splits_backward(plan)) {
    add("plan.offload.activations",
        fmt::format("activations on the host with the schedule {}", schedule),
        "weight gradients that come apart need their operands once more; that is not modelled",
        "choose a schedule with one backward pass: gpipe, 1f1b, interleaved-1f1b");
  }
  if (plan.offload.activations > 0 && !plan.routing.is_even()) {
    result.push_back({"plan.offload.activations", "plan.routing",
                      "activations on the host with a routing that is not even",
                      "ranks whose experts get more rows have more to copy; that is not modelled",
                      "leave plan.routing out"});
  }
  return result;
}

}  // namespace sim::plan
