// From what a run states of its machines to a cluster.
#include "sim/command/measured_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "sim/command/row_scenario.h"
#include "sim/scenario/catalog.h"

namespace sim::command {
namespace {

// By a part of the device's name, the more special first.
struct KnownHost {
  const char* device;
  const char* host;
};
constexpr KnownHost known_hosts[] = {
    {"H200", "hgx-h200"},           {"H100 PCIe", ""},         {"H100", "hgx-h100"},
    {"GB200", "gb200-nvl72"},       {"GB300", "gb300-nvl72"},  {"B200", "hgx-b200"},
    {"A100-SXM4-40GB", "dgx-a100"}, {"A100-PCI", "a100-pcie"}, {"A100", "hgx-a100"},
    {"MI300X", "mi300x"},           {"MI325X", "mi325x"}};

struct Nics {
  int count = 0;
  int gigabits = 0;
};

// "8x IB NDR 400G", "EFA 4x100G".
std::optional<Nics> nics_of(const std::string& fabric) {
  static const std::regex pattern(R"((\d+)x[^\d]*(\d+)G)");
  std::smatch match;
  if (!std::regex_search(fabric, match, pattern)) return std::nullopt;
  return Nics{std::stoi(match[1]), std::stoi(match[2])};
}

std::string host_of(const std::string& device) {
  for (const KnownHost& known : known_hosts) {
    if (device.find(known.device) != std::string::npos) return known.host;
  }
  return "";
}

MeasuredGroup refused(std::string why) {
  MeasuredGroup group;
  group.why_not = std::move(why);
  return group;
}

}  // namespace

collective::Forced forced_by(const std::string& settings) {
  collective::Forced forced;
  const auto value = [&](const char* name) -> std::string {
    const std::size_t at = settings.find(name);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + std::string(name).size();
    return settings.substr(begin, settings.find_first_of(" ,;", begin) - begin);
  };
  using collective::Algorithm;
  using collective::Protocol;
  for (const auto& [word, algorithm] :
       {std::pair{"Ring", Algorithm::ring}, std::pair{"Tree", Algorithm::tree},
        std::pair{"NVLS", Algorithm::nvls}, std::pair{"NVLSTree", Algorithm::nvls_tree},
        std::pair{"CollnetDirect", Algorithm::collnet}, std::pair{"PAT", Algorithm::pat}}) {
    if (value("NCCL_ALGO=") == word) forced.algorithm = algorithm;
  }
  for (const Protocol protocol : {Protocol::simple, Protocol::ll128, Protocol::ll}) {
    if (value("NCCL_PROTO=") == collective::name(protocol)) forced.protocol = protocol;
  }
  return forced;
}

std::optional<LoadedJob> load_cluster(const std::string& name, const Common& common,
                                      Diagnostics& diagnostics) {
  if (std::filesystem::path(name).has_extension() || std::filesystem::exists(name)) {
    const auto read = scenario::read_scenario(name, common.overrides, catalog(), diagnostics);
    return read ? load(*read, diagnostics) : std::nullopt;
  }
  auto machines = scenario::read_machines(name, catalog(), diagnostics);
  if (!machines) return std::nullopt;
  scenario::Scenario scenario;
  scenario.name = name;
  scenario.cluster = std::move(machines->description);
  scenario.device_types = std::move(machines->device_types);
  return load(scenario, diagnostics);
}

MeasuredGroup group_on(const LoadedJob& loaded, const scenario::CollectiveRun& run) {
  MeasuredGroup group;
  const topology::Cluster& cluster = *loaded.job.cluster;
  const auto each = static_cast<std::size_t>(run.ranks / std::max(run.hosts, 1));
  if (run.hosts > cluster.host_count()) {
    return refused(
        fmt::format("{} hosts, but the cluster has {}", run.hosts, cluster.host_count()));
  }
  for (topology::HostIndex host = 0; host < run.hosts; ++host) {
    const auto devices = cluster.devices_of_host(host);
    if (devices.size() < each) {
      return refused(fmt::format("{} ranks a host, but {} has {} devices", each,
                                 cluster.host_name(host), devices.size()));
    }
    group.members.insert(group.members.end(), devices.begin(),
                         devices.begin() + static_cast<std::ptrdiff_t>(each));
  }
  group.loaded.job = loaded.job;
  return group;
}

MeasuredGroup group_of(const scenario::CollectiveRun& run) {
  Diagnostics diagnostics;
  const std::string host = host_of(run.device);
  if (host.empty()) {
    return refused(fmt::format("no host type is known for the device '{}'", run.device));
  }
  const auto nics = nics_of(run.fabric);
  if (run.hosts > 1 && !nics) {
    return refused(fmt::format("the NICs of a host are not stated by '{}'", run.fabric));
  }
  std::string type = host;
  if (nics) {
    type = fmt::format("{{base: {}, nics: {}, nic: {} Gbit/s}}", host, nics->count, nics->gigabits);
  }
  const auto one = scenario::read_host(host, catalog(), diagnostics);
  if (!one) return refused(first_error(diagnostics));
  const int domain = one->scale_up.domain_hosts;
  const int count = (run.hosts + domain - 1) / domain * domain;
  std::string text = fmt::format(
      "maquette: 1\ncluster:\n  hosts: [{{name: h, count: {}, type: {}}}]\n", count, type);
  if (count > 1) {
    text += fmt::format("  fabric: {{kind: one-switch, link: {} Gbit/s, latency: 0.6 us}}\n",
                        nics ? nics->gigabits : 400);
  }
  text += "operations: [{name: one, compute: 1 us, on: h0.gpu0}]\n";
  const auto read = scenario::read_scenario_text(run.id, text, {}, catalog(), diagnostics);
  if (!read) return refused(first_error(diagnostics));
  auto loaded = load(*read, diagnostics);
  if (!loaded) return refused(first_error(diagnostics));
  MeasuredGroup group = group_on(*loaded, run);
  group.loaded = std::move(*loaded);
  if (!group.why_not.empty()) return group;
  const auto& profile = training::profile_of(group.loaded.job, group.members.front());
  if (profile.origin() == calibrate::profile::Origin::datasheet) {
    return refused(fmt::format("no fitted profile of {}", profile.device().name));
  }
  if (run.hosts > 1) group.assumed.emplace_back("between hosts one switch, 0.6 us a link");
  return group;
}

}  // namespace sim::command
