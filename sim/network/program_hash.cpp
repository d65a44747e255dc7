// A number for what a program does.
#include "sim/engine/fingerprint.h"
#include "sim/network/system.h"

namespace sim::network {

std::uint64_t program_hash(const Program& program) {
  std::uint64_t hash = program.steps.size();
  const auto add = [&hash](std::int64_t value) {
    hash = engine::mix(hash ^ static_cast<std::uint64_t>(value));
  };
  for (const Step& step : program.steps) {
    add(step.lag);
    add(step.work);
    add(step.weight);
    add(step.reserve);
    for (std::int32_t w = step.first_wait; w < step.first_wait + step.wait_count; ++w) {
      const Wait& wait = program.waits[static_cast<std::size_t>(w)];
      add(wait.slot);
      add(wait.milestone);
      add(wait.reserves);
    }
    for (std::int32_t u = step.first_use; u < step.first_use + step.use_count; ++u) {
      const StepUse& use = program.uses[static_cast<std::size_t>(u)];
      add(use.footprint);
      add(use.amount);
    }
  }
  if (program.accounted_from > 0) {
    add(program.accounted_from);
    add(program.accounted_to);
  }
  for (const std::int32_t milestone : program.milestones) add(milestone);
  return hash;
}

}  // namespace sim::network
