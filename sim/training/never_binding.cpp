// Static bounds on the load of each resource.
#include "sim/training/never_binding.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/network/program_names.h"

namespace sim::training {

using network::Coefficient;
using network::System;

namespace {

// [footprint] the most that one stream of the program can hold of it at once.
std::vector<std::int64_t> largest_uses(const network::Program& program) {
  std::vector<std::int64_t> largest;
  std::vector<std::int64_t> together;  // [footprint] of one step
  for (const network::Step& step : program.steps) {
    together.assign(together.size(), 0);
    for (std::int32_t u = step.first_use; u < step.first_use + step.use_count; ++u) {
      const network::StepUse& use = program.uses[static_cast<std::size_t>(u)];
      const std::size_t f = static_cast<std::size_t>(use.footprint);
      if (together.size() <= f) together.resize(f + 1, 0);
      if (largest.size() <= f) largest.resize(f + 1, 0);
      together[f] += use.amount;
      largest[f] = std::max(largest[f], together[f]);
    }
  }
  return largest;
}

}  // namespace

std::vector<char> may_bind(const System& system, std::span<const std::int64_t> most_through) {
  std::vector<std::vector<std::int64_t>> largest;  // [program]
  for (const network::Program& program : system.programs) largest.push_back(largest_uses(program));
  const std::vector<network::ProgramNames> names(system.programs.begin(), system.programs.end());
  // One operation of a stream runs at a time, so its largest use of a footprint bounds it.
  std::vector<Int128> bound(system.capacity.size(), 0);
  std::vector<char> result(system.capacity.size(), 0);
  for (std::size_t s = 0; s < system.streams.size(); ++s) {
    const network::Stream& stream = system.streams[s];
    const auto program = static_cast<std::size_t>(stream.program);
    for (std::size_t f = 0; f < largest[program].size(); ++f) {
      const std::int32_t footprint = stream.first_footprint + static_cast<std::int32_t>(f);
      for (const Coefficient& c : system.coefficients_of(footprint)) {
        bound[static_cast<std::size_t>(c.resource)] +=
            network::amount_through(c, largest[program][f]);
      }
    }
    for (const std::int32_t k : names[program].reserving) {
      const network::Slot& slot = system.slot_of(static_cast<std::int32_t>(s), k);
      for (const network::Member& member : system.members_of(slot)) {
        if (member.footprint < 0) continue;
        for (const Coefficient& c : system.coefficients_of(member.footprint)) {
          result[static_cast<std::size_t>(c.resource)] = 1;
        }
      }
    }
  }
  std::vector<std::int64_t> lowest = system.capacity;
  for (const network::CapacityChange& change : system.changes) {
    auto& capacity = lowest[static_cast<std::size_t>(change.resource)];
    capacity = std::min(capacity, change.capacity);
  }
  for (std::size_t r = 0; r < result.size(); ++r) {
    const bool is_wide = !most_through.empty() && most_through[r] <= lowest[r];
    if (bound[r] > lowest[r] && !is_wide) result[r] = 1;
  }
  return result;
}

void drop_never_binding(System& system, std::span<const std::int64_t> most_through) {
  std::vector<char> is_kept = may_bind(system, most_through);
  system.is_passive.assign(is_kept.size(), 0);
  for (const std::int32_t r : system.observed) {
    const auto resource = static_cast<std::size_t>(r);
    if (is_kept[resource]) continue;
    // What comes through it may still ask for more than its capacity, at a rate that it never has.
    system.is_passive[resource] = 1;
    system.capacity[resource] = INT64_MAX;
  }
  for (network::CapacityChange& change : system.changes) {
    const auto resource = static_cast<std::size_t>(change.resource);
    if (system.is_passive[resource]) change.capacity = INT64_MAX;
  }
  std::vector<Coefficient> kept;
  for (network::Footprint& footprint : system.footprints) {
    const auto first = static_cast<std::int32_t>(kept.size());
    for (std::int32_t c = footprint.first; c < footprint.first + footprint.count; ++c) {
      const Coefficient& coefficient = system.coefficients[static_cast<std::size_t>(c)];
      const std::size_t r = static_cast<std::size_t>(coefficient.resource);
      if (is_kept[r] || system.is_passive[r]) kept.push_back(coefficient);
    }
    footprint = {first, static_cast<std::int32_t>(kept.size()) - first};
  }
  system.coefficients = std::move(kept);
}

}  // namespace sim::training
