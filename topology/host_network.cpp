// What is asked of a cluster of host groups by number.
#include "topology/host_network.h"

#include <algorithm>
#include <limits>

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

HostNetwork::HostNetwork(const Description& description)
    : hosts_(description.hosts, description.fabric, description.reaches_host_memory),
      fabric_(
          fabric_shape(description.fabric, hosts_described(description), nics_max(description))) {}

Device HostNetwork::device(DeviceIndex device) const {
  const auto [host, i] = hosts_.device(device);
  const HostType& type = host.group.description->type;
  const bool has_switch = type.scale_up.kind == ScaleUp::Kind::crossbar;
  return {type.device_type, host.index(), i, host.domain(i), has_switch && type.scale_up.sharp};
}

std::string HostNetwork::device_name(DeviceIndex device) const {
  const auto [host, i] = hosts_.device(device);
  return host.device_name(i);
}

LinkIndex HostNetwork::link_count() const {
  return hosts_.link_count() + static_cast<LinkIndex>(fabric_->link_count());
}

Link HostNetwork::link(LinkIndex link) const {
  if (link >= hosts_.link_count()) return fabric_->link(link - hosts_.link_count());
  const auto [host, number] = hosts_.link(link);
  return host.group.link(host.group.layout.kind(number));
}

std::string HostNetwork::link_name(LinkIndex link) const {
  if (link >= hosts_.link_count()) return fabric_->link_name(link - hosts_.link_count());
  const auto [host, number] = hosts_.link(link);
  return host.link_name(number);
}

LinkEnds HostNetwork::ends(LinkIndex link) const {
  if (link >= hosts_.link_count()) {
    const LinkEnds ends = fabric_->ends(link - hosts_.link_count());
    const VertexIndex first = hosts_.first_fabric_switch();
    return {first + ends.from, first + ends.to};
  }
  const auto [host, number] = hosts_.link(link);
  return ends_in_host(host, number);
}

LinkEnds HostNetwork::ends_in_host(const Host& host, std::int64_t number) const {
  using Owner = HostLayout::Link::Owner;
  const HostLayout& layout = host.group.layout;
  const HostLayout::Link link = layout.link(number, host.position(0));
  const auto pair = [&](VertexIndex from, VertexIndex to) {
    return link.other == 1 ? LinkEnds{to, from} : LinkEnds{from, to};
  };
  switch (link.owner) {
    case Owner::device_scale_up: {
      if (host.group.has_crossbar()) return pair(host.device(link.index), host.domain_switch());
      const End peer = peer_at(host, link.other);
      return {host.device(link.index), peer.host.device(peer.number)};
    }
    case Owner::device_pcie:
      return pair(host.device(link.index), host.own_switch(layout.switch_of_device(link.index)));
    case Owner::pcie_switch:
      return pair(host.own_switch(link.index), host.socket(layout.socket_of_switch(link.index)));
    case Owner::socket:
      return {host.socket(link.index), host.socket(static_cast<int>(link.other))};
    case Owner::memory: {
      // It begins and ends at the socket.
      const int per_socket = std::max(layout.memories() / layout.sockets(), 1);
      const VertexIndex socket =
          host.socket(std::min(link.index / per_socket, layout.sockets() - 1));
      return {socket, socket};
    }
    case Owner::nic:
      break;
  }
  const std::int64_t leaf = fabric_->leaf_of(host.index(), link.index);
  return pair(host.own_switch(layout.switch_of_nic(link.index)),
              hosts_.first_fabric_switch() + static_cast<VertexIndex>(leaf));
}

std::optional<DeviceIndex> HostNetwork::device_of(LinkIndex link) const {
  if (link >= hosts_.link_count()) return std::nullopt;
  const auto [host, number] = hosts_.link(link);
  const std::optional<int> device = host.group.layout.device_of(number);
  if (!device) return std::nullopt;
  return host.device(*device);
}

DeviceIndex HostNetwork::first_device(LinkIndex link) const {
  if (link < hosts_.link_count()) return hosts_.link(link).host.device(0);
  const auto host = static_cast<HostIndex>(fabric_->first_host(link - hosts_.link_count()));
  return hosts_.host(host).device(0);
}

int HostNetwork::tier(LinkIndex link) const {
  return link < hosts_.link_count() ? 0 : fabric_->tier(link - hosts_.link_count());
}

// As if all NICs were as fast as the fastest.
BytesPerSecond HostNetwork::capacity_below(LinkIndex link) const {
  if (link < hosts_.link_count()) {
    return BytesPerSecond(std::numeric_limits<double>::infinity());
  }
  BytesPerSecond nic;
  for (const Group& group : hosts_.groups()) {
    nic = std::max(nic, group.link(LinkKind::nic).capacity);
  }
  return fabric_->capacity_below(link - hosts_.link_count(), nic);
}

VertexIndex HostNetwork::vertex_count() const {
  return hosts_.first_fabric_switch() + static_cast<VertexIndex>(fabric_->switch_count());
}

std::string HostNetwork::vertex_name(VertexIndex vertex) const {
  if (vertex < hosts_.device_count()) return device_name(vertex);
  if (vertex < hosts_.first_domain_switch()) {
    const auto [host, i] = hosts_.own_switch(vertex);
    return host.switch_name(i);
  }
  if (vertex < hosts_.first_fabric_switch()) {
    return "domain" + std::to_string(hosts_.domain_of_switch(vertex));
  }
  return fabric_->switch_name(vertex - hosts_.first_fabric_switch());
}

const HostType* HostNetwork::host_type(HostIndex host) const {
  return &hosts_.host(host).group.description->type;
}

std::vector<DeviceIndex> HostNetwork::devices_of_host(HostIndex index) const {
  const Host host = hosts_.host(index);
  std::vector<DeviceIndex> result;
  for (int i = 0; i < host.group.layout.devices(); ++i) result.push_back(host.device(i));
  return result;
}

std::optional<Blocks> HostNetwork::blocks() const {
  if (!fabric_->has_alike_blocks()) return std::nullopt;
  const auto domain_of = [](const Group& group) {
    return std::max(group.layout.domain_size(), std::int64_t{group.layout.devices()});
  };
  const Group& first = hosts_.groups().front();
  bool shares_links = false;
  for (const Group& group : hosts_.groups()) {
    shares_links = shares_links || group.layout.shares_links();
    if (group.layout.devices() != first.layout.devices()) return std::nullopt;
    if (domain_of(group) != domain_of(first)) return std::nullopt;
  }
  const std::int64_t host = first.layout.devices();
  return Blocks{host,
                domain_of(first),
                host * fabric_->hosts_per_group(),
                host * fabric_->hosts_per_pod(),
                static_cast<LinkIndex>(fabric_->links_per_group()),
                static_cast<LinkIndex>(fabric_->links_per_pod()),
                shares_links};
}

std::vector<DeviceIndex> HostNetwork::type_borders() const {
  std::vector<DeviceIndex> result;
  for (const Group& group : hosts_.groups()) result.push_back(group.first_device);
  result.erase(result.begin());
  return result;
}

}  // namespace topology
