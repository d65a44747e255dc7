// Flat layout of a system.
#include "sim/training/system_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "sim/training/costs.h"

namespace sim::training {

using network::Coefficient;

std::int64_t SystemBuilder::memory_rate(DeviceIndex device) {
  const std::string_view type = cluster_.device(device).device_type;
  auto found = memory_rates_.find(type);
  if (found == memory_rates_.end()) {
    const BytesPerSecond rate = memory_capacity(profile_of(job_, device));
    found = memory_rates_.emplace(type, to_bytes_per_second(rate)).first;
  }
  return found->second;
}

std::int32_t SystemBuilder::resource(const ResourceOrigin& origin) {
  const auto kind = static_cast<std::int64_t>(origin.kind);
  const auto [entry, is_new] = resource_of_.try_emplace(kind << 32 | origin.index,
                                                        static_cast<std::int32_t>(origins_.size()));
  if (!is_new) return entry->second;
  origins_.push_back(origin);
  switch (origin.kind) {
    case ResourceOrigin::Kind::link:
      system_.capacity.push_back(to_bytes_per_second(cluster_.link(origin.index).capacity));
      break;
    case ResourceOrigin::Kind::multiprocessors:
    case ResourceOrigin::Kind::launches:
      system_.capacity.push_back(multiprocessors_one);
      break;
    case ResourceOrigin::Kind::memory:
      system_.capacity.push_back(memory_rate(origin.index));
      break;
  }
  return entry->second;
}

std::int32_t SystemBuilder::add_program(network::Program program) {
  system_.programs.push_back(std::move(program));
  return static_cast<std::int32_t>(system_.programs.size()) - 1;
}

SystemBuilder::StreamId SystemBuilder::add_stream(std::string name, std::int32_t program,
                                                  std::int32_t owner) {
  network::Stream stream;
  stream.program = program;
  stream.owner = owner;
  system_.streams.push_back(stream);
  system_.stream_names.push_back(std::move(name));
  slots_.emplace_back();
  footprints_.emplace_back();
  return static_cast<StreamId>(system_.streams.size()) - 1;
}

void SystemBuilder::set_slots(StreamId id, std::vector<SlotSpec> slots) {
  slots_[static_cast<std::size_t>(id)] = std::move(slots);
}
void SystemBuilder::set_footprints(StreamId id, std::vector<FootprintSpec> footprints) {
  footprints_[static_cast<std::size_t>(id)] = std::move(footprints);
}

SystemBuilder::FootprintSpec SystemBuilder::multiprocessors_of(
    std::span<const DeviceIndex> devices) {
  FootprintSpec spec;
  for (const DeviceIndex d : devices) spec.push_back({multiprocessors(d)});
  return spec;
}
SystemBuilder::FootprintSpec SystemBuilder::memory_of(std::span<const DeviceIndex> devices) {
  FootprintSpec spec;
  for (const DeviceIndex d : devices) spec.push_back({memory(d)});
  return spec;
}

SystemBuilder::FootprintSpec SystemBuilder::path(const Path& path, const BearersOf& bearers_of) {
  FootprintSpec spec;
  const auto add = [&](const ResourceOrigin& origin, double bytes) {
    const std::int64_t coefficient =
        std::llround(bytes / path.reference * static_cast<double>(Coefficient::coefficient_one));
    const auto add_bearer = [&](const ResourceOrigin& bearer, std::int64_t count) {
      spec.push_back({resource(bearer), static_cast<std::int32_t>(count), coefficient});
    };
    if (!bearers_of) return add_bearer(origin, 1);
    bearers_of(origin, add_bearer);
  };
  for (const auto& [l, bytes] : path.links) add({ResourceOrigin::Kind::link, l}, bytes);
  for (const auto& [d, bytes] : path.memory) add({ResourceOrigin::Kind::memory, d}, bytes);
  return spec;
}

std::vector<std::int64_t> SystemBuilder::most_through() const {
  std::vector<std::int64_t> result;
  for (const ResourceOrigin& origin : origins_) {
    const bool is_link = origin.kind == ResourceOrigin::Kind::link;
    const BytesPerSecond below = is_link ? cluster_.capacity_below(origin.index)
                                         : BytesPerSecond(std::numeric_limits<double>::infinity());
    result.push_back(std::isinf(below.value()) ? INT64_MAX : to_bytes_per_second(below));
  }
  return result;
}

std::vector<Int128> SystemBuilder::amounts(const network::System& system) {
  std::vector<Int128> result(system.capacity.size(), 0);
  std::vector<std::vector<Int128>> per_program(system.programs.size());  // [program][footprint]
  for (std::size_t p = 0; p < system.programs.size(); ++p) {
    const network::Program& program = system.programs[p];
    for (const network::Step& step : program.steps) {
      for (std::int32_t u = step.first_use; u < step.first_use + step.use_count; ++u) {
        const network::StepUse& use = program.uses[static_cast<std::size_t>(u)];
        auto& sums = per_program[p];
        if (sums.size() <= static_cast<std::size_t>(use.footprint)) {
          sums.resize(static_cast<std::size_t>(use.footprint) + 1, 0);
        }
        sums[static_cast<std::size_t>(use.footprint)] += Int128{use.amount} * step.work;
      }
    }
    constexpr Int128 picoseconds_per_microsecond = 1'000'000;
    for (Int128& sum : per_program[p]) sum /= picoseconds_per_microsecond;
  }
  for (const network::Stream& stream : system.streams) {
    const auto& sums = per_program[static_cast<std::size_t>(stream.program)];
    for (std::size_t f = 0; f < sums.size(); ++f) {
      const std::int32_t footprint = stream.first_footprint + static_cast<std::int32_t>(f);
      for (const Coefficient& coefficient : system.coefficients_of(footprint)) {
        result[static_cast<std::size_t>(coefficient.resource)] +=
            (sums[f] * coefficient.coefficient >> Coefficient::bits) * coefficient.count;
      }
    }
  }
  return result;
}

network::System SystemBuilder::take(int iterations) {
  for (std::size_t s = 0; s < system_.streams.size(); ++s) {
    network::Stream& stream = system_.streams[s];
    stream.first_slot = static_cast<std::int32_t>(system_.slots.size());
    stream.first_footprint = static_cast<std::int32_t>(system_.footprints.size());
    for (const SlotSpec& spec : slots_[s]) {
      system_.slots.push_back({static_cast<std::int32_t>(system_.members.size()),
                               static_cast<std::int32_t>(spec.members.size()),
                               static_cast<std::uint8_t>(spec.in_progress),
                               static_cast<std::uint8_t>(spec.late)});
      for (const MemberSpec& m : spec.members) {
        system_.members.push_back(
            {m.stream, m.footprint < 0 ? -1 : stream.first_footprint + m.footprint});
      }
    }
    for (const FootprintSpec& spec : footprints_[s]) {
      system_.footprints.push_back({static_cast<std::int32_t>(system_.coefficients.size()),
                                    static_cast<std::int32_t>(spec.size())});
      system_.coefficients.insert(system_.coefficients.end(), spec.begin(), spec.end());
    }
  }
  std::stable_sort(system_.changes.begin(), system_.changes.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  system_.iterations = iterations;
  system_.resource_name = [cluster = &cluster_, origins = origins_](std::int32_t resource) {
    const ResourceOrigin& origin = origins[static_cast<std::size_t>(resource)];
    switch (origin.kind) {
      case ResourceOrigin::Kind::link:
        return cluster->link_name(origin.index);
      case ResourceOrigin::Kind::multiprocessors:
        return cluster->device_name(origin.index) + ".multiprocessors";
      case ResourceOrigin::Kind::memory:
        return cluster->device_name(origin.index) + ".memory";
      case ResourceOrigin::Kind::launches:
        return cluster->device_name(origin.index) + ".launches";
    }
    bug("unknown kind of resource");
  };
  return std::move(system_);
}

}  // namespace sim::training
