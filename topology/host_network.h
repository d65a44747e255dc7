// A cluster of host groups on a fabric: everything by arithmetic, nothing is stored for each host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topology/fabric_shape.h"
#include "topology/host_groups.h"
#include "topology/network.h"

namespace topology {

// Most NICs that a host of the cluster has.
int nics_max(const Description& description);
std::int64_t hosts_described(const Description& description);

class HostNetwork : public Network {
 public:
  // Keeps pointers into the description.
  explicit HostNetwork(const Description& description);

  DeviceIndex device_count() const override { return hosts_.device_count(); }
  Device device(DeviceIndex device) const override;
  std::string device_name(DeviceIndex device) const override;
  LinkIndex link_count() const override;
  Link link(LinkIndex link) const override;
  std::string link_name(LinkIndex link) const override;
  LinkEnds ends(LinkIndex link) const override;
  int tier(LinkIndex link) const override;
  std::optional<DeviceIndex> device_of(LinkIndex link) const override;
  DeviceIndex first_device(LinkIndex link) const override;
  BytesPerSecond capacity_below(LinkIndex link) const override;
  VertexIndex vertex_count() const override;
  std::string vertex_name(VertexIndex vertex) const override;
  HostIndex host_count() const override { return hosts_.host_count(); }
  std::string host_name(HostIndex host) const override { return hosts_.host(host).name(); }
  const HostType* host_type(HostIndex host) const override;
  std::vector<DeviceIndex> devices_of_host(HostIndex host) const override;
  std::optional<Blocks> blocks() const override;
  std::vector<DeviceIndex> type_borders() const override;
  Route route(DeviceIndex source, DeviceIndex target, std::uint64_t flow) const override;
  Route host_route(DeviceIndex device, HostRoute what) const override;
  std::vector<LinkIndex> links_of_part(const std::string& part) const override;
  std::vector<DeviceIndex> devices_of_part(const std::string& part) const override;

 private:
  class Assembly;
  using End = InHost<int>;  // a device

  LinkEnds ends_in_host(const Host& host, std::int64_t number) const;
  void cross_domain(const End& source, const End& target, Assembly& route) const;
  void cross_pcie(const Host& host, int from_switch, int to_switch, int parts,
                  Assembly& route) const;
  void cross_fabric(const End& source, const End& target, std::uint64_t seed,
                    Assembly& route) const;

  // Parts: each appends links that belong to them.
  using Found = std::vector<LinkIndex>;
  struct Plugged {
    const Group& group;
    std::int64_t first_host, hosts;  // of the group
    int first_nic, nics;             // of each host
  };
  static void add_from_peers(const Host& host, int device, Found& found);
  static void add_port(const std::vector<Plugged>& plugged, std::int64_t port, Found& found);
  static std::int64_t port_count(const std::vector<Plugged>& plugged);
  std::vector<Plugged> plugged_into(std::int64_t leaf) const;
  void add_own_switch(const Host& host, int number, Found& found) const;
  void add_in_host(const Host& host, const PartPattern& pattern, Found& found) const;
  void add_domains(const PartPattern& pattern, Found& found) const;
  void add_fabric(const PartPattern& pattern, Found& found) const;
  void add_ports(const std::string& part, Found& found) const;

  const HostGroups hosts_;
  const std::unique_ptr<const FabricShape> fabric_;
};

}  // namespace topology
