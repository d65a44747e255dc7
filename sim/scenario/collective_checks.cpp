// Whether the groups of hand-written collectives can run what is forced on them.
#include <algorithm>

#include "sim/scenario/checks.h"
#include "topology/cluster.h"

namespace sim::scenario {
namespace {

using collective::Obstacle;
using topology::DeviceIndex;

// The part of the hardware that obstacles ask for.
collective::Hardware hardware_of(const topology::Cluster& cluster,
                                 const std::vector<DeviceIndex>& members) {
  collective::Hardware hardware;
  const auto all = [&](auto&& holds) { return std::all_of(members.begin(), members.end(), holds); };
  const int domain = cluster.device(members.front()).domain;
  hardware.has_nvls = all([&](DeviceIndex d) { return cluster.device(d).sharp; });
  hardware.inside_domain = all([&](DeviceIndex d) { return cluster.device(d).domain == domain; });
  hardware.has_sharp = cluster.has_sharp_fabric();
  // A graph does not say what its links are.
  hardware.has_nvlink = cluster.host_type(cluster.device(members.front()).host) == nullptr;
  for (std::size_t i = 1; i < members.size(); ++i) {
    hardware.has_nvlink |= cluster.route(members.front(), members[i]).inside_domain;
  }
  return hardware;
}

}  // namespace

void check_forced(Reader& reader, const std::string& path, const topology::Cluster& cluster,
                  const HandOperation::Collective& collective,
                  const std::vector<DeviceIndex>& members) {
  const collective::Forced& forced = collective.forced;
  if (forced.channels) {
    reader.warning(reader.place(joined_path(path, "channels")),
                   fmt::format("channels of {} hold multiprocessors, but change no rate", path),
                   "no measurement says what fewer or more channels reach");
  }
  if (!forced.algorithm && !forced.protocol) return;
  collective::Layout layout;
  for (const DeviceIndex member : members) layout.host_of.push_back(cluster.device(member).host);
  const collective::Hardware hardware = hardware_of(cluster, members);
  const auto refuse = [&](const char* key, const char* word, const Obstacle& obstacle) {
    const std::string at = joined_path(path, key);
    reader.error(at, reader.place(at), fmt::format("no {} '{}' for {}", key, word, path),
                 obstacle.why, obstacle.hint);
  };
  if (forced.algorithm) {
    const auto found = obstacle(collective.operation, *forced.algorithm, layout, hardware);
    if (found) refuse("algorithm", name(*forced.algorithm), *found);
  }
  if (forced.protocol) {
    const auto algorithm = forced.algorithm.value_or(collective::Algorithm::ring);
    const auto found = obstacle(algorithm, *forced.protocol, hardware);
    if (found) refuse("protocol", name(*forced.protocol), *found);
  }
}

}  // namespace sim::scenario
