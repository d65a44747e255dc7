// A cluster written as an arbitrary graph: everything is listed.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/invariant.h"
#include "topology/graph_parts.h"
#include "topology/graph_router.h"
#include "topology/network.h"

namespace topology {

class GraphNetwork : public Network {
 public:
  // Keeps pointers into the graph.
  explicit GraphNetwork(const Graph& graph);

  DeviceIndex device_count() const override;
  Device device(DeviceIndex device) const override { return data_.device(device); }
  std::string device_name(DeviceIndex device) const override { return vertex_name(device); }
  LinkIndex link_count() const override { return static_cast<LinkIndex>(data_.links.size()); }
  Link link(LinkIndex link) const override { return data_.link(link); }
  std::string link_name(LinkIndex link) const override;
  LinkEnds ends(LinkIndex link) const override;
  int tier(LinkIndex /*link*/) const override { return 0; }
  std::optional<DeviceIndex> device_of(LinkIndex /*link*/) const override { return std::nullopt; }
  DeviceIndex first_device(LinkIndex /*link*/) const override { return 0; }
  BytesPerSecond capacity_below(LinkIndex /*link*/) const override {
    return BytesPerSecond(std::numeric_limits<double>::infinity());
  }
  VertexIndex vertex_count() const override;
  std::string vertex_name(VertexIndex vertex) const override;
  HostIndex host_count() const override { return static_cast<HostIndex>(data_.hosts.size()); }
  std::string host_name(HostIndex host) const override;
  const HostType* host_type(HostIndex /*host*/) const override { return nullptr; }
  std::vector<DeviceIndex> devices_of_host(HostIndex host) const override;
  std::optional<Blocks> blocks() const override { return std::nullopt; }
  std::vector<DeviceIndex> type_borders() const override { return {}; }
  Route route(DeviceIndex source, DeviceIndex target, std::uint64_t flow) const override;
  Route host_route(DeviceIndex /*device*/, HostRoute /*what*/) const override {
    sim::bug("a graph has no host memory");
  }
  std::vector<LinkIndex> links_of_part(const std::string& part) const override;
  std::vector<DeviceIndex> devices_of_part(const std::string& part) const override;

 private:
  const GraphData data_;
  const GraphParts parts_;
  const std::unique_ptr<Router> router_;
};

}  // namespace topology
