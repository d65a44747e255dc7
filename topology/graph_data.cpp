// Lists what an arbitrary graph is made of.
#include "topology/graph_data.h"

#include <map>
#include <utility>

namespace topology {

namespace {

void add_hosts(const Graph& graph, GraphData& data) {
  std::map<std::string, HostIndex> known;
  std::vector<std::vector<DeviceIndex>> devices;
  for (const GraphDevice& device : graph.devices) {
    const std::string& name = device.host.empty() ? device.name : device.host;
    const auto [found, is_new] = known.emplace(name, static_cast<HostIndex>(data.hosts.size()));
    if (is_new) {
      data.hosts.push_back(name);
      devices.emplace_back();
    }
    std::vector<DeviceIndex>& own = devices[static_cast<std::size_t>(found->second)];
    const auto index = static_cast<DeviceIndex>(data.devices.size());
    data.devices.push_back(
        {device.device_type, found->second, static_cast<int>(own.size()), index});
    data.device_names.push_back(device.name);
    own.push_back(index);
  }
  for (const std::vector<DeviceIndex>& own : devices) {
    data.first_device.push_back(data.devices_by_host.size());
    data.devices_by_host.insert(data.devices_by_host.end(), own.begin(), own.end());
  }
  data.first_device.push_back(data.devices_by_host.size());
}

}  // namespace

GraphData graph_data(const Graph& graph) {
  GraphData data;
  add_hosts(graph, data);
  data.switches = graph.switches;
  std::map<std::string, VertexIndex> vertices;
  for (const std::string& name : data.device_names) {
    vertices.emplace(name, static_cast<VertexIndex>(vertices.size()));
  }
  for (std::size_t i = 0; i < graph.switches.size(); ++i) {
    vertices.emplace(graph.switches[i], data.vertex_of_switch(i));
  }
  std::map<std::pair<VertexIndex, VertexIndex>, int> parallel;
  const auto add = [&](const GraphLink& link, const std::string& from, const std::string& to) {
    const LinkEnds ends{vertices.at(from), vertices.at(to)};
    const int before = parallel[{ends.from, ends.to}]++;
    std::string name = from + "->" + to;
    if (before > 0) name += "#" + std::to_string(before);
    data.links.push_back({LinkKind::fabric, link.capacity, link.latency});
    data.link_names.push_back(std::move(name));
    data.ends.push_back(ends);
  };
  for (const GraphLink& link : graph.links) {
    add(link, link.from, link.to);
    if (!link.one_way) add(link, link.to, link.from);
  }
  return data;
}

}  // namespace topology
