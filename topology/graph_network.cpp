// Answers for an arbitrary graph from its lists.
#include "topology/graph_network.h"

namespace topology {

GraphNetwork::GraphNetwork(const Graph& graph)
    : data_(graph_data(graph)), parts_(data_), router_(graph_router(data_, graph.routing)) {}

DeviceIndex GraphNetwork::device_count() const {
  return static_cast<DeviceIndex>(data_.devices.size());
}
std::string GraphNetwork::link_name(LinkIndex link) const {
  return data_.link_names[static_cast<std::size_t>(link)];
}
LinkEnds GraphNetwork::ends(LinkIndex link) const {
  return data_.ends[static_cast<std::size_t>(link)];
}
VertexIndex GraphNetwork::vertex_count() const {
  return data_.vertex_of_switch(data_.switches.size());
}
std::string GraphNetwork::vertex_name(VertexIndex vertex) const {
  const auto v = static_cast<std::size_t>(vertex);
  const std::size_t devices = data_.devices.size();
  return v < devices ? data_.device_names[v] : data_.switches[v - devices];
}
std::string GraphNetwork::host_name(HostIndex host) const {
  return data_.hosts[static_cast<std::size_t>(host)];
}
std::vector<DeviceIndex> GraphNetwork::devices_of_host(HostIndex host) const {
  const auto h = static_cast<std::size_t>(host);
  const auto at = [&](std::size_t i) {
    return data_.devices_by_host.begin() + static_cast<std::ptrdiff_t>(data_.first_device[i]);
  };
  return {at(h), at(h + 1)};
}
Route GraphNetwork::route(DeviceIndex source, DeviceIndex target, std::uint64_t flow) const {
  return router_->route(source, target, flow);
}
std::vector<LinkIndex> GraphNetwork::links_of_part(const std::string& part) const {
  return parts_.links(part);
}
std::vector<DeviceIndex> GraphNetwork::devices_of_part(const std::string& part) const {
  return parts_.devices(part);
}

}  // namespace topology
