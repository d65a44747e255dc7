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
void each_coefficient(const System& system, const network::Stream& stream, std::int32_t footprint,
                      Visit visit) {
  const network::Footprint& f =
      system.footprints[static_cast<std::size_t>(stream.first_footprint + footprint)];
  for (std::int32_t c = f.first; c < f.first + f.count; ++c) {
    visit(system.coefficients[static_cast<std::size_t>(c)]);
  }
}

// What one stream of the program can hold at once.
struct Reach {
  std::vector<std::int64_t> largest;  // [footprint] amount
  std::set<std::int32_t> reserved;    // footprints
};

Reach reach_of(const network::Program& program) {
  Reach reach;
  for (const network::Step& step : program.steps) {
    for (std::int32_t u = step.first_use; u < step.first_use + step.use_count; ++u) {
      const network::StepUse& use = program.uses[static_cast<std::size_t>(u)];
      const std::size_t f = static_cast<std::size_t>(use.footprint);
      if (reach.largest.size() <= f) reach.largest.resize(f + 1, 0);
      reach.largest[f] = std::max(reach.largest[f], use.amount);
    }
  }
  for (const network::Wait& wait : program.waits) {
    if (wait.reserve >= 0) reach.reserved.insert(wait.reserve);
  }
  return reach;
}

}  // namespace

void drop_never_binding(System& system) {
  std::vector<Reach> reach;
  for (const network::Program& program : system.programs) reach.push_back(reach_of(program));
  // One operation of a stream runs at a time, so its largest use of a footprint bounds it.
  std::vector<Int128> bound(system.capacity.size(), 0);
  std::vector<char> is_kept(system.capacity.size(), 0);
  for (const network::Stream& stream : system.streams) {
    const Reach& r = reach[static_cast<std::size_t>(stream.program)];
    for (std::size_t f = 0; f < r.largest.size(); ++f) {
      each_coefficient(system, stream, static_cast<std::int32_t>(f), [&](const Coefficient& c) {
        bound[static_cast<std::size_t>(c.resource)] +=
            (Int128{r.largest[f]} * c.coefficient >> Coefficient::bits) + 1;
      });
    }
    for (const std::int32_t f : r.reserved) {
      each_coefficient(system, stream, f, [&](const Coefficient& c) {
        is_kept[static_cast<std::size_t>(c.resource)] = 1;
      });
    }
  }
  std::vector<std::int64_t> lowest = system.capacity;
  for (const network::CapacityChange& change : system.changes) {
    auto& capacity = lowest[static_cast<std::size_t>(change.resource)];
    capacity = std::min(capacity, change.capacity);
  }
  for (const std::int32_t r : system.observed) is_kept[static_cast<std::size_t>(r)] = 1;
  std::vector<Coefficient> kept;
  for (network::Footprint& footprint : system.footprints) {
    const auto first = static_cast<std::int32_t>(kept.size());
    for (std::int32_t c = footprint.first; c < footprint.first + footprint.count; ++c) {
      const Coefficient& coefficient = system.coefficients[static_cast<std::size_t>(c)];
      const std::size_t r = static_cast<std::size_t>(coefficient.resource);
      if (is_kept[r] || bound[r] > lowest[r]) kept.push_back(coefficient);
    }
    footprint = {first, static_cast<std::int32_t>(kept.size()) - first};
  }
  system.coefficients = std::move(kept);
}

}  // namespace sim::training
