// Scenario -> cluster, profiles, disturbances.
#include "sim/command/load.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "sim/command/options.h"

namespace sim::command {

namespace profiles = calibrate::profile;
using training::Disturbance;

namespace {

profiles::Precision precision_of(const std::string& name) {
  if (name == "fp32") return profiles::Precision::fp32;
  if (name == "tf32") return profiles::Precision::tf32;
  if (name == "fp16") return profiles::Precision::fp16;
  if (name == "fp8") return profiles::Precision::fp8;
  return profiles::Precision::bf16;
}

// All that a profile is made of.
std::string key_of(const std::filesystem::path& file, const profiles::DeviceType& device) {
  std::string peaks;
  for (const auto& [precision, peak] : device.peak) {
    peaks += fmt::format(" {} {}", static_cast<int>(precision), peak.value());
  }
  return fmt::format("{}\n{}\n{}\n{}\n{} {} {} {} {}{}", file.string(), device.name,
                     device.full_name, device.source, device.memory.value(),
                     device.memory_rate.value(), device.multiprocessors, device.l2.value(),
                     device.power_watts, peaks);
}

// A study asks for few profiles, again and again, from several threads, which HDF5 does not bear.
std::shared_ptr<const profiles::Profile> fitted_profile(const profiles::DeviceType& device) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const profiles::Profile>> known;
  const auto file = catalog() / "devices" / device.profile;
  const std::lock_guard lock(mutex);
  auto& profile = known[key_of(file, device)];
  if (!profile) profile = profiles::read_profile(file, device);
  return profile;
}

std::shared_ptr<const profiles::Profile> profile_of(const profiles::DeviceType& device,
                                                    const Place& place, Diagnostics& diagnostics) {
  if (device.is_ideal) return profiles::ideal_profile(device);
  if (device.profile.empty()) return profiles::datasheet_profile(device);
  try {
    return fitted_profile(device);
  } catch (const profiles::ProfileError& error) {
    diagnostics.error(place, error.message, error.why, error.hint);
    return nullptr;
  }
}

void add_disturbances(const scenario::Straggler& straggler, const topology::Cluster& cluster,
                      std::vector<Disturbance>& disturbances, Diagnostics& diagnostics) {
  const auto add = [&](Disturbance::Kind kind, std::int32_t index, double factor) {
    disturbances.push_back({kind, index, factor, straggler.from, straggler.to});
  };
  std::vector<topology::DeviceIndex> devices;
  std::vector<topology::LinkIndex> links;
  if (straggler.rank) {
    if (*straggler.rank >= 0 && *straggler.rank < cluster.device_count()) {
      devices.push_back(*straggler.rank);
    }
  } else {
    devices = cluster.devices_of_part(straggler.part);
    links = cluster.links_of_part(straggler.part);
  }
  if (devices.empty() && links.empty()) {
    diagnostics.error(straggler.place,
                      straggler.rank ? fmt::format("no rank {}", *straggler.rank)
                                     : fmt::format("no part '{}' in the cluster", straggler.part),
                      fmt::format("the cluster has {} devices", cluster.device_count()),
                      "parts are named like h0.gpu1, h[0..3].nic2, leaf3");
    return;
  }
  for (const topology::DeviceIndex device : devices) {
    if (straggler.compute) add(Disturbance::Kind::compute, device, *straggler.compute);
    if (straggler.memory) add(Disturbance::Kind::memory, device, *straggler.memory);
    if (straggler.slowdown) {
      add(Disturbance::Kind::compute, device, 1 / *straggler.slowdown);
      add(Disturbance::Kind::memory, device, 1 / *straggler.slowdown);
    }
  }
  for (const topology::LinkIndex link : links) {
    if (straggler.link) add(Disturbance::Kind::link, link, *straggler.link);
  }
}

}  // namespace

std::optional<LoadedJob> load(const scenario::Scenario& scenario, Diagnostics& diagnostics) {
  LoadedJob loaded;
  loaded.cluster = std::make_unique<topology::Cluster>(scenario.cluster);
  training::Job& job = loaded.job;
  job.name = scenario.name;
  job.cluster = loaded.cluster.get();
  job.stack = scenario.stack;
  job.precision = precision_of(scenario.training.precision);
  job.plan = scenario.plan;
  job.operations = scenario.operations;
  job.fidelity = scenario.run.fidelity;
  job.jitter = scenario.run.jitter;
  job.iterations = scenario.run.iterations;
  if (const auto* dnn = std::get_if<dnn::Transformer>(&scenario.dnn)) job.dnn = *dnn;
  if (const auto* timed = std::get_if<scenario::TimedDnn>(&scenario.dnn)) job.dnn = *timed;
  for (const auto& [name, device] : scenario.device_types) {
    job.profiles[name] = profile_of(device, scenario.place("cluster"), diagnostics);
  }
  for (const scenario::Straggler& straggler : scenario.stragglers) {
    add_disturbances(straggler, *loaded.cluster, job.disturbances, diagnostics);
  }
  if (diagnostics.has_errors()) return std::nullopt;
  return loaded;
}

}  // namespace sim::command
