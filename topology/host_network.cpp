// Builds the network of a cluster of host groups.
#include "topology/host_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/invariant.h"

namespace topology {

int nics_max(const Description& description) {
  int most = 0;
  for (const HostGroup& group : description.hosts) most = std::max(most, group.type.nics);
  return most;
}

std::int64_t hosts_described(const Description& description) {
  std::int64_t count = 0;
  for (const HostGroup& group : description.hosts) count += group.count;
  return count;
}

HostNetwork::HostNetwork(const Description& description, Network& network)
    : network_(network),
      fabric_(description.fabric),
      layout_(description.fabric, hosts_described(description), nics_max(description)) {
  add_devices(description);
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    network_.first_switch.push_back(network_.switches.size());
    add_own_switches(hosts_[i], static_cast<HostIndex>(i));
  }
  network_.first_switch.push_back(network_.switches.size());
  add_domain_switches();
  layout_.add_switches(network_);
  std::int64_t links = layout_.link_count();
  for (const Group& group : groups_) links += group.layout.link_count() * group.description->count;
  network_.links.reserve(static_cast<std::size_t>(links));
  network_.ends.reserve(static_cast<std::size_t>(links));
  for (std::size_t i = 0; i < hosts_.size(); ++i) add_links(static_cast<HostIndex>(i));
  network_.first_link.push_back(network_.links.size());
  layout_.add_links(network_);
}

void HostNetwork::add_devices(const Description& description) {
  std::int32_t domain = 0;
  for (std::size_t g = 0; g < description.hosts.size(); ++g) {
    const HostGroup& group = description.hosts[g];
    groups_.push_back(
        {&group, HostLayout(group.type, layout_.exists()), static_cast<HostIndex>(hosts_.size())});
    const std::int64_t domain_size = groups_.back().layout.domain_size();
    for (int number = 0; number < group.count; ++number) {
      const auto host = static_cast<HostIndex>(hosts_.size());
      hosts_.push_back({static_cast<std::int32_t>(g), 0, 0});
      network_.hosts.push_back(group.name + std::to_string(number));
      network_.host_types.push_back(&group.type);
      network_.first_device.push_back(network_.devices.size());
      for (int i = 0; i < group.type.devices; ++i) {
        const std::int64_t position = std::int64_t{number} * group.type.devices + i;
        network_.devices_by_host.push_back(static_cast<DeviceIndex>(network_.devices.size()));
        network_.devices.push_back({network_.hosts.back() + ".gpu" + std::to_string(i),
                                    group.type.device_type, host, i,
                                    domain + static_cast<std::int32_t>(position / domain_size)});
      }
    }
    domain +=
        static_cast<std::int32_t>(std::int64_t{group.count} * group.type.devices / domain_size);
  }
  network_.first_device.push_back(network_.devices.size());
  domain_switch_.assign(static_cast<std::size_t>(domain), 0);
}

void HostNetwork::add_own_switches(Host& host, HostIndex index) {
  const HostLayout& layout = group_of(index).layout;
  const std::string& name = network_.hosts[static_cast<std::size_t>(index)];
  host.first_switch = network_.vertex_of_switch(network_.switches.size());
  for (int i = 0; i < layout.pcie_switches(); ++i) {
    network_.switches.push_back(name + ".pcie" + std::to_string(i));
  }
  for (int i = 0; i < layout.sockets(); ++i) {
    network_.switches.push_back(name + ".socket" + std::to_string(i));
  }
}

void HostNetwork::add_domain_switches() {
  for (const Group& group : groups_) {
    if (group.description->type.scale_up.kind != ScaleUp::Kind::crossbar) continue;
    if (group.layout.domain_size() == 1) continue;
    const int step = group.description->type.scale_up.domain_hosts;
    for (HostIndex i = 0; i < group.description->count; i += step) {
      const std::size_t device = network_.first_device[static_cast<std::size_t>(group.first_host) +
                                                       static_cast<std::size_t>(i)];
      const int domain = network_.devices[device].domain;
      domain_switch_[static_cast<std::size_t>(domain)] =
          network_.vertex_of_switch(network_.switches.size());
      network_.switches.push_back("domain" + std::to_string(domain));
    }
  }
}

}  // namespace topology
