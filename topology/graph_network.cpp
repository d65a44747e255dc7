// Builds the network of an arbitrary graph.
#include "topology/graph_network.h"

#include <map>
#include <utility>

namespace topology {

namespace {

void add_hosts(const Graph& graph, Network& network) {
  std::map<std::string, HostIndex> known;
  std::vector<std::vector<DeviceIndex>> devices;
  for (const GraphDevice& device : graph.devices) {
    const std::string& name = device.host.empty() ? device.name : device.host;
    const auto [found, is_new] = known.emplace(name, static_cast<HostIndex>(network.hosts.size()));
    if (is_new) {
      network.hosts.push_back(name);
      network.host_types.push_back(nullptr);
      devices.emplace_back();
    }
    std::vector<DeviceIndex>& own = devices[static_cast<std::size_t>(found->second)];
    const auto index = static_cast<DeviceIndex>(network.devices.size());
    network.devices.push_back(
        {device.name, device.device_type, found->second, static_cast<int>(own.size()), index});
    own.push_back(index);
  }
  for (const std::vector<DeviceIndex>& own : devices) {
    network.first_device.push_back(network.devices_by_host.size());
    network.devices_by_host.insert(network.devices_by_host.end(), own.begin(), own.end());
  }
  network.first_device.push_back(network.devices_by_host.size());
}

}  // namespace

void add_graph(const Graph& graph, Network& network) {
  add_hosts(graph, network);
  network.switches = graph.switches;
  std::map<std::string, VertexIndex> vertices;
  for (const Device& device : network.devices) {
    vertices.emplace(device.name, static_cast<VertexIndex>(vertices.size()));
  }
  for (std::size_t i = 0; i < graph.switches.size(); ++i) {
    vertices.emplace(graph.switches[i], network.vertex_of_switch(i));
  }
  std::map<std::pair<VertexIndex, VertexIndex>, int> parallel;
  const auto add = [&](const GraphLink& link, const std::string& from, const std::string& to) {
    const LinkEnds ends{vertices.at(from), vertices.at(to)};
    const int before = parallel[{ends.from, ends.to}]++;
    std::string name = from + "->" + to;
    if (before > 0) name += "#" + std::to_string(before);
    network.links.push_back({std::move(name), LinkKind::fabric, link.capacity, link.latency});
    network.ends.push_back(ends);
  };
  for (const GraphLink& link : graph.links) {
    add(link, link.from, link.to);
    if (!link.one_way) add(link, link.to, link.from);
  }
}

}  // namespace topology
