// Chooses how to build and route a cluster, and keeps what was built.
#include "topology/cluster.h"

#include "topology/graph_network.h"
#include "topology/host_network.h"
#include "topology/parts.h"

namespace topology {

struct Cluster::State {
  explicit State(const Description& written) : description(written), parts(network) {
    if (description.graph) {
      add_graph(*description.graph, network);
      router = graph_router(network, description.graph->routing);
    } else {
      router = std::make_unique<HostNetwork>(description, network);
    }
  }

  const Description description;
  Network network;
  Parts parts;
  std::unique_ptr<Router> router;
};

Cluster::Cluster(const Description& description) : state_(std::make_unique<State>(description)) {}
Cluster::~Cluster() = default;
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;

std::span<const Device> Cluster::devices() const { return state_->network.devices; }
std::span<const Link> Cluster::links() const { return state_->network.links; }
LinkEnds Cluster::ends(LinkIndex link) const {
  return state_->network.ends[static_cast<std::size_t>(link)];
}
VertexIndex Cluster::vertex_count() const {
  return state_->network.vertex_of_switch(state_->network.switches.size());
}
const std::string& Cluster::vertex_name(VertexIndex vertex) const {
  const auto v = static_cast<std::size_t>(vertex);
  const Network& network = state_->network;
  return v < network.devices.size() ? network.devices[v].name
                                    : network.switches[v - network.devices.size()];
}
int Cluster::host_count() const { return static_cast<int>(state_->network.hosts.size()); }
const std::string& Cluster::host_name(HostIndex host) const {
  return state_->network.hosts[static_cast<std::size_t>(host)];
}
const HostType* Cluster::host_type(HostIndex host) const {
  return state_->network.host_types[static_cast<std::size_t>(host)];
}
std::span<const DeviceIndex> Cluster::devices_of_host(HostIndex host) const {
  const Network& network = state_->network;
  const std::size_t first = network.first_device[static_cast<std::size_t>(host)];
  const std::size_t last = network.first_device[static_cast<std::size_t>(host) + 1];
  return std::span(network.devices_by_host).subspan(first, last - first);
}

Route Cluster::route(DeviceIndex source, DeviceIndex target, std::uint64_t flow) const {
  return state_->router->route(source, target, flow);
}

std::vector<LinkIndex> Cluster::links_of_part(const std::string& part) const {
  return state_->parts.links(part);
}
std::vector<DeviceIndex> Cluster::devices_of_part(const std::string& part) const {
  return state_->parts.devices(part);
}

}  // namespace topology
