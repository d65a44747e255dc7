// Each change sets the product of all factors in force.
#include "sim/training/disturbance.h"

#include <cmath>
#include <map>
#include <set>

#include "sim/training/costs.h"

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

std::vector<std::int64_t> memory_rates(const Job& job) {
  std::map<std::string, std::int64_t> by_type;
  std::vector<std::int64_t> rates;
  for (topology::DeviceIndex d = 0; d < job.cluster->device_count(); ++d) {
    const std::string type(job.cluster->device(d).device_type);
    auto found = by_type.find(type);
    if (found == by_type.end()) {
      const auto& profile = *job.profiles.at(type);
      found = by_type.emplace(type, to_bytes_per_second(memory_capacity(profile))).first;
    }
    rates.push_back(found->second);
  }
  return rates;
}

}  // namespace sim::training
