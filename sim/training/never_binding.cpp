// Static bounds on the load of each resource.
#include "sim/training/never_binding.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace sim::training {

using network::Coefficient;
using network::System;

namespace {

template <class Visit>
void each_coefficient(const System& system, std::int32_t footprint, Visit visit) {
  const network::Footprint& f = system.footprints[static_cast<std::size_t>(footprint)];
  for (std::int32_t c = f.first; c < f.first + f.count; ++c) {
    visit(system.coefficients[static_cast<std::size_t>(c)]);
  }
}

// What one stream of the program can hold at once.
struct Reach {
  std::vector<std::int64_t> largest;  // [footprint] amount
  std::set<std::int32_t> reserving;   // slots
};

Reach reach_of(const network::Program& program) {
  Reach reach;
  std::vector<std::int64_t> together;  // [footprint] of one step
  for (const network::Step& step : program.steps) {
    together.assign(together.size(), 0);
    for (std::int32_t u = step.first_use; u < step.first_use + step.use_count; ++u) {
      const network::StepUse& use = program.uses[static_cast<std::size_t>(u)];
      const std::size_t f = static_cast<std::size_t>(use.footprint);
      if (together.size() <= f) together.resize(f + 1, 0);
      if (reach.largest.size() <= f) reach.largest.resize(f + 1, 0);
      together[f] += use.amount;
      reach.largest[f] = std::max(reach.largest[f], together[f]);
    }
  }
  for (const network::Wait& wait : program.waits) {
    if (wait.reserves) reach.reserving.insert(wait.slot);
  }
  return reach;
}

// Resources whose capacity may matter: what could be held of them at once exceeds it.
std::vector<char> may_bind(const System& system) {
  std::vector<Reach> reach;
  for (const network::Program& program : system.programs) reach.push_back(reach_of(program));
  // One operation of a stream runs at a time, so its largest use of a footprint bounds it.
  std::vector<Int128> bound(system.capacity.size(), 0);
  std::vector<char> result(system.capacity.size(), 0);
  for (const network::Stream& stream : system.streams) {
    const Reach& r = reach[static_cast<std::size_t>(stream.program)];
    for (std::size_t f = 0; f < r.largest.size(); ++f) {
      each_coefficient(
          system, stream.first_footprint + static_cast<std::int32_t>(f), [&](const Coefficient& c) {
            bound[static_cast<std::size_t>(c.resource)] += network::amount_through(c, r.largest[f]);
          });
    }
    for (const std::int32_t number : r.reserving) {
      const network::Slot& slot =
          system.slots[static_cast<std::size_t>(stream.first_slot + number)];
      for (std::int32_t m = slot.first; m < slot.first + slot.count; ++m) {
        const std::int32_t footprint = system.members[static_cast<std::size_t>(m)].footprint;
        if (footprint < 0) continue;
        each_coefficient(system, footprint, [&](const Coefficient& c) {
          result[static_cast<std::size_t>(c.resource)] = 1;
        });
      }
    }
  }
  std::vector<std::int64_t> lowest = system.capacity;
  for (const network::CapacityChange& change : system.changes) {
    auto& capacity = lowest[static_cast<std::size_t>(change.resource)];
    capacity = std::min(capacity, change.capacity);
  }
  for (std::size_t r = 0; r < result.size(); ++r) {
    if (bound[r] > lowest[r]) result[r] = 1;
  }
  return result;
}

}  // namespace

void drop_never_binding(System& system) {
  std::vector<char> is_kept = may_bind(system);
  system.is_passive.assign(is_kept.size(), 0);
  for (const std::int32_t r : system.observed) {
    const auto resource = static_cast<std::size_t>(r);
    system.is_passive[resource] = is_kept[resource] ? 0 : 1;
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
