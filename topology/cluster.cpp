// Chooses how to answer for a cluster, and keeps its description.
#include "topology/cluster.h"

#include "topology/graph_network.h"
#include "topology/host_network.h"

namespace topology {

struct Cluster::State {
  explicit State(const Description& written) : description(written) {
    if (description.graph) {
      network = std::make_unique<GraphNetwork>(*description.graph);
    } else {
      network = std::make_unique<HostNetwork>(description);
    }
  }

  const Description description;
  std::unique_ptr<Network> network;
};

Cluster::Cluster(const Description& description) : state_(std::make_unique<State>(description)) {}
Cluster::~Cluster() = default;
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;

DeviceIndex Cluster::device_count() const { return state_->network->device_count(); }
bool Cluster::has_sharp_fabric() const { return state_->description.fabric.sharp; }
Device Cluster::device(DeviceIndex device) const { return state_->network->device(device); }
std::string Cluster::device_name(DeviceIndex device) const {
  return state_->network->device_name(device);
}
LinkIndex Cluster::link_count() const { return state_->network->link_count(); }
Link Cluster::link(LinkIndex link) const { return state_->network->link(link); }
std::string Cluster::link_name(LinkIndex link) const { return state_->network->link_name(link); }
LinkEnds Cluster::ends(LinkIndex link) const { return state_->network->ends(link); }
int Cluster::tier(LinkIndex link) const { return state_->network->tier(link); }
std::optional<DeviceIndex> Cluster::device_of(LinkIndex link) const {
  return state_->network->device_of(link);
}
DeviceIndex Cluster::first_device(LinkIndex link) const {
  return state_->network->first_device(link);
}
BytesPerSecond Cluster::capacity_below(LinkIndex link) const {
  return state_->network->capacity_below(link);
}
VertexIndex Cluster::vertex_count() const { return state_->network->vertex_count(); }
std::string Cluster::vertex_name(VertexIndex vertex) const {
  return state_->network->vertex_name(vertex);
}
HostIndex Cluster::host_count() const { return state_->network->host_count(); }
std::string Cluster::host_name(HostIndex host) const { return state_->network->host_name(host); }
const HostType* Cluster::host_type(HostIndex host) const {
  return state_->network->host_type(host);
}
std::vector<DeviceIndex> Cluster::devices_of_host(HostIndex host) const {
  return state_->network->devices_of_host(host);
}
std::optional<Blocks> Cluster::blocks() const { return state_->network->blocks(); }
std::vector<DeviceIndex> Cluster::type_borders() const { return state_->network->type_borders(); }

Route Cluster::route(DeviceIndex source, DeviceIndex target, std::uint64_t flow) const {
  return state_->network->route(source, target, flow);
}

Route Cluster::host_route(DeviceIndex device, HostRoute what) const {
  return state_->network->host_route(device, what);
}

std::vector<LinkIndex> Cluster::links_of_part(const std::string& part) const {
  return state_->network->links_of_part(part);
}
std::vector<DeviceIndex> Cluster::devices_of_part(const std::string& part) const {
  return state_->network->devices_of_part(part);
}

}  // namespace topology
