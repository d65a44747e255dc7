// A cluster of host groups on a fabric: its network, and routes by arithmetic.
#pragma once

#include <vector>

#include "topology/fabric_layout.h"
#include "topology/host_layout.h"
#include "topology/network.h"

namespace topology {

// Most NICs that a host of the cluster has.
int nics_max(const Description& description);
std::int64_t hosts_described(const Description& description);

// Appends everything to an empty network; keeps pointers into the description.
class HostNetwork : public Router {
 public:
  HostNetwork(const Description& description, Network& network);
  Route route(DeviceIndex source, DeviceIndex target, std::uint64_t flow) const override;

 private:
  class Assembly;
  struct Group {
    const HostGroup* description;
    HostLayout layout;
    HostIndex first_host;
  };
  struct Host {
    std::int32_t group;
    LinkIndex first_link;
    VertexIndex first_switch;  // its PCIe switches, then its sockets
  };
  struct End {  // a device, and what is around it
    const Group& group;
    const Host& host;
    int index;
    HostIndex host_index;
    LinkIndex link(std::int64_t number) const {
      return host.first_link + static_cast<LinkIndex>(number);
    }
  };

  void add_devices(const Description& description);
  void add_own_switches(Host& host, HostIndex index);
  void add_domain_switches();
  void add_links(HostIndex index);
  void add_crossbar_links(HostIndex index);
  void add_mesh_links(HostIndex index);
  void add_pcie_links(HostIndex index);
  void add_nic_links(HostIndex index);
  void add_pair(std::string out, std::string in, LinkKind kind, LinkEnds ends,
                BytesPerSecond capacity, Seconds latency);

  const Host& host_at(HostIndex index) const { return hosts_[static_cast<std::size_t>(index)]; }
  const Group& group_of(HostIndex host) const {
    return groups_[static_cast<std::size_t>(host_at(host).group)];
  }
  End end_of(DeviceIndex device) const;
  // First host of the host's scale-up domain.
  HostIndex domain_start(HostIndex host) const;
  void cross_domain(const End& source, const End& target, Assembly& route) const;
  void cross_pcie(const End& end, int from_switch, int to_switch, int parts, Assembly& route) const;
  void cross_fabric(const End& source, const End& target, std::uint64_t seed,
                    Assembly& route) const;

  Network& network_;
  const Fabric& fabric_;
  std::vector<Group> groups_;
  std::vector<Host> hosts_;
  std::vector<VertexIndex> domain_switch_;  // [domain]; meaningful for crossbars
  FabricLayout layout_;
};

}  // namespace topology
