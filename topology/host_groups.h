// The hosts of a cluster, group after group: which numbers each owns, and what its parts are
// called.
//
// Devices are numbered host after host; links the same, before those of the fabric; vertices:
// devices, own switches host after host, switches of domains, those of the fabric.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "topology/host_layout.h"

namespace topology {

struct Group {
  const HostGroup* description;
  HostLayout layout;
  std::array<Link, 6> links;  // [kind], but fabric
  // Of its first host.
  HostIndex first_host = 0;
  DeviceIndex first_device = 0;
  LinkIndex first_link = 0;
  VertexIndex first_switch = 0;
  int first_domain = 0;
  VertexIndex first_domain_switch = 0;

  const Link& link(LinkKind kind) const { return links[static_cast<std::size_t>(kind)]; }
  bool has_crossbar() const;
  std::int64_t domain_count() const {
    return std::int64_t{description->count} * layout.devices() / layout.domain_size();
  }
};

// Links, switches and devices of a host are counted from 0 here.
struct Host {
  const Group& group;
  int number;  // in the group

  HostIndex index() const { return group.first_host + number; }
  DeviceIndex device(int i) const {
    return group.first_device + static_cast<DeviceIndex>(device_in_group(i));
  }
  LinkIndex link(std::int64_t i) const {
    return group.first_link + static_cast<LinkIndex>(number * group.layout.link_count() + i);
  }
  VertexIndex own_switch(int i) const {
    return group.first_switch + static_cast<VertexIndex>(number * group.layout.switches() + i);
  }
  VertexIndex socket(int i) const { return own_switch(group.layout.pcie_switches() + i); }
  int domain(int device) const {
    return group.first_domain +
           static_cast<int>(device_in_group(device) / group.layout.domain_size());
  }
  VertexIndex domain_switch() const {
    return group.first_domain_switch + domain(0) - group.first_domain;
  }
  // Of a device among those of its domain.
  std::int64_t position(int device) const {
    return device_in_group(device) % group.layout.domain_size();
  }

  std::string name() const { return group.description->name + std::to_string(number); }
  std::string device_name(int i) const;
  std::string switch_name(int i) const;
  std::string link_name(std::int64_t i) const;

 private:
  std::int64_t device_in_group(int i) const {
    return std::int64_t{number} * group.layout.devices() + i;
  }
};

// One of a host's devices, links or switches.
template <class Number>
struct InHost {
  Host host;
  Number number;
};
// A device by its position in the domain of a host.
InHost<int> peer_at(const Host& host, std::int64_t position);

class HostGroups {
 public:
  // Keeps pointers to the descriptions.
  HostGroups(const std::vector<HostGroup>& descriptions, const Fabric& fabric, bool reaches_memory);

  const std::vector<Group>& groups() const { return groups_; }
  DeviceIndex device_count() const { return end_.device; }
  HostIndex host_count() const { return end_.host; }
  LinkIndex link_count() const { return end_.link; }
  VertexIndex first_domain_switch() const { return end_.own_switch; }
  VertexIndex first_fabric_switch() const { return end_.domain_switch; }

  Host host(HostIndex index) const;
  InHost<int> device(DeviceIndex index) const;
  InHost<std::int64_t> link(LinkIndex index) const;
  InHost<int> own_switch(VertexIndex index) const;
  // First host of the domain with that number, or that switch.
  Host host_of_domain(int domain) const;
  int domain_of_switch(VertexIndex index) const;

 private:
  struct End {
    HostIndex host = 0;
    DeviceIndex device = 0;
    LinkIndex link = 0;
    VertexIndex own_switch = 0, domain_switch = 0;
  };
  template <class Index>
  const Group& group_of(Index Group::*first, Index index) const;

  std::vector<Group> groups_;
  End end_;
};

}  // namespace topology
