// Each change sets the product of all factors in force.
#include "sim/training/disturbance.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sim::training {
namespace {

struct Turn {  // of one of the disturbances of a resource
  Phase phase;
  std::size_t disturbance = 0;
};

std::int32_t resource_of(const Disturbance& d, SystemBuilder& builder) {
  switch (d.kind) {
    case Disturbance::Kind::compute:
      return builder.multiprocessors(d.index);
    case Disturbance::Kind::memory:
      return builder.memory(d.index);
    case Disturbance::Kind::link:
      return builder.link(d.index);
    case Disturbance::Kind::host:
      return builder.launches(d.index);
  }
  bug("unknown kind of disturbance");
}

}  // namespace

void disturb(const Job& job, SystemBuilder& builder) {
  std::map<std::int32_t, std::vector<const Disturbance*>> by_resource;
  for (const Disturbance& d : job.disturbances) by_resource[resource_of(d, builder)].push_back(&d);
  for (const auto& [resource, disturbances] : by_resource) {
    std::vector<Turn> turns;
    for (std::size_t i = 0; i < disturbances.size(); ++i) {
      const Disturbance& d = *disturbances[i];
      for (const Phase& phase : phases(d.pattern, d.factor, d.from, d.to, job.horizon)) {
        turns.push_back({phase, i});
      }
    }
    std::stable_sort(turns.begin(), turns.end(),
                     [](const Turn& a, const Turn& b) { return a.phase.at < b.phase.at; });
    const auto normal = static_cast<double>(builder.capacity(resource));
    std::vector<double> factors(disturbances.size(), 1);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      factors[turns[i].disturbance] = turns[i].phase.factor;
      const Picoseconds at = turns[i].phase.at;
      if (i + 1 < turns.size() && turns[i + 1].phase.at == at) continue;
      double factor = 1;
      for (const double one : factors) factor *= one;
      builder.change({at, resource, std::llround(normal * factor)});
    }
  }
}

}  // namespace sim::training
