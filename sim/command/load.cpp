// Scenario -> cluster, profiles, disturbances.
#include "sim/command/load.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "sim/command/disturbances.h"
#include "sim/command/options.h"

namespace sim::command {

namespace profiles = calibrate::profile;

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
  job.disturbances = disturbances(scenario, *loaded.cluster, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return loaded;
}

}  // namespace sim::command
