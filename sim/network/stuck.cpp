// Follows the first unmet wait from stream to stream until one is met again.
#include "sim/network/stuck.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace sim::network {

namespace {

struct Blocker {
  std::int32_t stream;
  std::int32_t milestone_steps;
};

std::optional<Blocker> first_unmet(const System& system, std::span<const std::int32_t> position,
                                   std::int32_t stream) {
  const Program& p = system.program_of(stream);
  const Step& step = p.steps[static_cast<std::size_t>(position[static_cast<std::size_t>(stream)])];
  std::optional<Blocker> found;
  any_target(system, stream, step, [&](const Target& t) {
    if (position[static_cast<std::size_t>(t.stream)] < t.needed) {
      found = Blocker{t.stream, t.needed};
    }
    return found.has_value();
  });
  return found;
}

std::string step_name(const System& system, std::int32_t stream, std::int32_t position) {
  const Program& p = system.programs[static_cast<std::size_t>(
      system.streams[static_cast<std::size_t>(stream)].program)];
  if (position >= static_cast<std::int32_t>(p.steps.size())) return "its end";
  const std::int32_t label = p.steps[static_cast<std::size_t>(position)].label;
  return fmt::format("'{}'", p.labels[static_cast<std::size_t>(label)]);
}

// Which of the resources that the step uses have nothing to give.
std::string missing_capacity(const System& system, std::span<const std::int64_t> capacity,
                             std::int32_t stream, std::int32_t position) {
  const Stream& s = system.streams[static_cast<std::size_t>(stream)];
  const Program& p = system.programs[static_cast<std::size_t>(s.program)];
  const Step& step = p.steps[static_cast<std::size_t>(position)];
  std::vector<std::string> names;
  for (std::int32_t u = step.first_use; u < step.first_use + step.use_count; ++u) {
    const std::int32_t footprint = p.uses[static_cast<std::size_t>(u)].footprint;
    for (const Coefficient& c : system.coefficients_of(s.first_footprint + footprint)) {
      if (capacity[static_cast<std::size_t>(c.resource)] > 0) continue;
      const std::string name = system.resource_name(c.resource);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  if (names.empty()) return "with what others leave it would not end within 53 days";
  return fmt::format("{} has capacity 0", fmt::join(names, ", "));
}

}  // namespace

std::string wait_cycle(const System& system, std::span<const std::int64_t> capacity,
                       std::span<const std::int32_t> position) {
  std::int32_t stream = 0;
  while (
      position[static_cast<std::size_t>(stream)] >=
      static_cast<std::int32_t>(system
                                    .programs[static_cast<std::size_t>(
                                        system.streams[static_cast<std::size_t>(stream)].program)]
                                    .steps.size())) {
    ++stream;
  }
  std::vector<std::int32_t> path;
  while (std::find(path.begin(), path.end(), stream) == path.end()) {
    path.push_back(stream);
    const auto blocker = first_unmet(system, position, stream);
    if (!blocker) {
      const std::int32_t at = position[static_cast<std::size_t>(stream)];
      return fmt::format("  {} is in {} and gets no rate: {}\n",
                         system.stream_names[static_cast<std::size_t>(stream)],
                         step_name(system, stream, at),
                         missing_capacity(system, capacity, stream, at));
    }
    stream = blocker->stream;
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), stream));
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto blocker = first_unmet(system, position, path[i]);
    text += fmt::format("  {} before {} waits for {} to end {}\n",
                        system.stream_names[static_cast<std::size_t>(path[i])],
                        step_name(system, path[i], position[static_cast<std::size_t>(path[i])]),
                        system.stream_names[static_cast<std::size_t>(blocker->stream)],
                        step_name(system, blocker->stream, blocker->milestone_steps - 1));
  }
  return text;
}

}  // namespace sim::network
