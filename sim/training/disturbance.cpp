// Each change sets the product of all factors in force.
#include "sim/training/disturbance.h"

#include <cmath>
#include <map>
#include <set>

namespace sim::training {

void disturb(const Job& job, SystemBuilder& builder) {
  std::map<std::int32_t, std::vector<const Disturbance*>> by_resource;
  for (const Disturbance& d : job.disturbances) {
    std::int32_t resource = builder.link(d.index);
    if (d.kind == Disturbance::Kind::compute) resource = builder.multiprocessors(d.index);
    if (d.kind == Disturbance::Kind::memory) resource = builder.memory(d.index);
    by_resource[resource].push_back(&d);
  }
  for (const auto& [resource, disturbances] : by_resource) {
    std::set<Picoseconds> instants;
    for (const Disturbance* d : disturbances) {
      instants.insert(to_picoseconds(d->from));
      if (d->to) instants.insert(to_picoseconds(*d->to));
    }
    const auto normal = static_cast<double>(builder.capacity(resource));
    for (const Picoseconds at : instants) {
      double factor = 1;
      for (const Disturbance* d : disturbances) {
        const bool has_begun = to_picoseconds(d->from) <= at;
        const bool has_ended = d->to && to_picoseconds(*d->to) <= at;
        if (has_begun && !has_ended) factor *= d->factor;
      }
      builder.change({at, resource, std::llround(normal * factor)});
    }
  }
}

}  // namespace sim::training
