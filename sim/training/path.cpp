// Routes of hops, summed by link.
#include "sim/training/path.h"

#include <algorithm>
#include <utility>

namespace sim::training {

namespace profile = calibrate::profile;

namespace {

double efficiency(topology::LinkKind kind, const profile::NetworkConstants& network) {
  switch (kind) {
    case topology::LinkKind::nic:
    case topology::LinkKind::fabric:
      return network.efficiency;
    case topology::LinkKind::scale_up:
    case topology::LinkKind::socket:
      return network.intra_efficiency;
    case topology::LinkKind::pcie:
      return network.pcie_efficiency;
    case topology::LinkKind::memory:
      return network.host_memory_efficiency;
    case topology::LinkKind::cores:
      return 1;
  }
  bug("unknown kind of link");
}

// One sum for each part, ascending; added up in the order in which the shares stand.
template <class Index>
std::vector<std::pair<Index, double>> sums(std::vector<std::pair<Index, double>> shares) {
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::pair<Index, double>> result;
  for (const auto& [part, bytes] : shares) {
    if (result.empty() || result.back().first != part) result.emplace_back(part, 0);
    result.back().second += bytes;
  }
  return result;
}

void fill(const topology::Cluster& cluster, const profile::NetworkConstants& network,
          std::vector<std::pair<LinkIndex, double>> links,
          std::vector<std::pair<DeviceIndex, double>> memory, Path& path) {
  path.links = sums(std::move(links));
  path.memory = sums(std::move(memory));
  for (const auto& [link, bytes] : path.links) {
    const topology::Link l = cluster.link(link);
    path.reference = std::max(path.reference, bytes);
    path.seconds_per_byte =
        std::max(path.seconds_per_byte, bytes / (l.capacity.value() * efficiency(l.kind, network)));
  }
}

}  // namespace

std::pair<Seconds, Seconds> add_hops(const topology::Cluster& cluster,
                                     const profile::NetworkConstants& network,
                                     std::span<const DeviceHop> hops, double overhead,
                                     double memory_passes, Path& path) {
  std::vector<std::pair<LinkIndex, double>> links;
  std::vector<std::pair<DeviceIndex, double>> memory;
  Seconds intra, inter;
  for (const DeviceHop& hop : hops) {
    if (hop.source == hop.target) continue;
    const auto flow = (static_cast<std::uint64_t>(hop.source) << 32) |
                      static_cast<std::uint64_t>(static_cast<std::uint32_t>(hop.target));
    const topology::Route route = cluster.route(hop.source, hop.target, flow);
    Seconds& latency = route.inside_domain || route.inside_host ? intra : inter;
    latency = std::max(latency, route.latency);
    for (const auto& [link, share] : route.links)
      links.emplace_back(link, hop.bytes * share * overhead);
    memory.emplace_back(hop.source, hop.bytes * memory_passes / 2);
    memory.emplace_back(hop.target, hop.bytes * memory_passes / 2);
  }
  fill(cluster, network, std::move(links), std::move(memory), path);
  return {intra, inter};
}

Path host_path(const topology::Cluster& cluster, const profile::NetworkConstants& network,
               std::span<const DeviceIndex> devices, topology::HostRoute what) {
  Path path;
  std::vector<std::pair<LinkIndex, double>> links;
  std::vector<std::pair<DeviceIndex, double>> memory;
  for (const DeviceIndex device : devices) {
    const topology::Route route = cluster.host_route(device, what);
    path.latency = std::max(path.latency, route.latency);
    for (const auto& [link, share] : route.links) links.emplace_back(link, share);
    // A copy engine reads or writes the device's memory once.
    if (what != topology::HostRoute::work) memory.emplace_back(device, 1);
  }
  fill(cluster, network, std::move(links), std::move(memory), path);
  return path;
}

std::int64_t within_links(const topology::Cluster& cluster, const Path& path, Bytes size,
                          Seconds duration) {
  double rate = path.reference * size.value() / duration.value();
  for (const auto& [link, bytes] : path.links) {
    const double capacity = cluster.link(link).capacity.value();
    if (bytes > 0) rate = std::min(rate, capacity * path.reference / bytes);
  }
  return to_bytes_per_second(BytesPerSecond(rate));
}

Path side_by_side(const topology::Cluster& cluster, const profile::Profile& profile,
                  std::span<const std::pair<DeviceIndex, DeviceIndex>> pairs) {
  Path path;
  const auto network = profile.network();
  std::vector<DeviceHop> hops;
  for (const auto& [source, target] : pairs) hops.push_back({source, target, 1.0});
  const auto [intra, inter] = add_hops(cluster, network, hops, 1, memory_passes_copy, path);
  const Seconds step = std::max(intra.value() > 0 ? network.step_intra + intra : Seconds(0),
                                inter.value() > 0 ? network.step_inter + inter : Seconds(0));
  path.latency = network.base + step;
  path.channels = network.channels_point_to_point;
  return path;
}

}  // namespace sim::training
