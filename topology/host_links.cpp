// Adds the links of each host, in the order that HostLayout numbers them.
#include <algorithm>

#include "sim/base/invariant.h"
#include "topology/host_network.h"

namespace topology {

void HostNetwork::add_pair(std::string out, std::string in, LinkKind kind, LinkEnds ends,
                           BytesPerSecond capacity, Seconds latency) {
  network_.links.push_back({std::move(out), kind, capacity, latency});
  network_.ends.push_back(ends);
  network_.links.push_back({std::move(in), kind, capacity, latency});
  network_.ends.push_back({ends.to, ends.from});
}

void HostNetwork::add_links(HostIndex index) {
  const Group& group = group_of(index);
  network_.first_link.push_back(network_.links.size());
  hosts_[static_cast<std::size_t>(index)].first_link =
      static_cast<LinkIndex>(network_.links.size());
  if (group.layout.domain_size() > 1) {
    if (group.description->type.scale_up.kind == ScaleUp::Kind::crossbar) {
      add_crossbar_links(index);
    } else {
      add_mesh_links(index);
    }
  }
  if (group.layout.has_pcie()) add_pcie_links(index);
  add_nic_links(index);
  sim::invariant(static_cast<std::int64_t>(network_.links.size() - network_.first_link.back()) ==
                     group.layout.link_count(),
                 "a host has other links than its layout numbers");
}

// A non-blocking switch: whatever the ports can send, it can carry.
void HostNetwork::add_crossbar_links(HostIndex index) {
  const ScaleUp& scale_up = group_of(index).description->type.scale_up;
  const std::size_t host = static_cast<std::size_t>(index);
  for (std::size_t d = network_.first_device[host]; d < network_.first_device[host + 1]; ++d) {
    const Device& device = network_.devices[d];
    add_pair(device.name + ".up", device.name + ".down", LinkKind::scale_up,
             {static_cast<VertexIndex>(d), domain_switch_[static_cast<std::size_t>(device.domain)]},
             scale_up.per_device, scale_up.latency);
  }
}

void HostNetwork::add_mesh_links(HostIndex index) {
  const Group& group = group_of(index);
  const ScaleUp& scale_up = group.description->type.scale_up;
  const std::size_t host = static_cast<std::size_t>(index);
  const std::int64_t size = group.layout.domain_size();
  const std::size_t first = network_.first_device[static_cast<std::size_t>(domain_start(index))];
  const BytesPerSecond capacity = scale_up.per_device / static_cast<double>(size - 1);
  for (std::size_t d = network_.first_device[host]; d < network_.first_device[host + 1]; ++d) {
    for (std::size_t peer = first; peer < first + static_cast<std::size_t>(size); ++peer) {
      if (peer == d) continue;
      const Device& target = network_.devices[peer];
      const std::string to =
          target.host == index ? "gpu" + std::to_string(target.index_in_host) : target.name;
      network_.links.push_back(
          {network_.devices[d].name + "." + to, LinkKind::scale_up, capacity, scale_up.latency});
      network_.ends.push_back({static_cast<VertexIndex>(d), static_cast<VertexIndex>(peer)});
    }
  }
}

void HostNetwork::add_pcie_links(HostIndex index) {
  const Group& group = group_of(index);
  const HostLayout& layout = group.layout;
  const HostType& type = group.description->type;
  const std::size_t host = static_cast<std::size_t>(index);
  const std::string& name = network_.hosts[host];
  const VertexIndex first_switch = host_at(index).first_switch;
  const VertexIndex first_socket = first_switch + layout.pcie_switches();
  for (int i = 0; i < type.devices; ++i) {
    const std::size_t d = network_.first_device[host] + static_cast<std::size_t>(i);
    const std::string& device = network_.devices[d].name;
    add_pair(device + ".pcie.out", device + ".pcie.in", LinkKind::pcie,
             {static_cast<VertexIndex>(d), first_switch + layout.switch_of_device(i)}, type.pcie,
             type.pcie_latency);
  }
  if (!layout.has_switch_links()) return;
  for (int i = 0; i < layout.pcie_switches(); ++i) {
    const std::string part = name + ".pcie" + std::to_string(i);
    add_pair(part + ".up", part + ".down", LinkKind::pcie,
             {first_switch + i, first_socket + layout.socket_of_switch(i)}, type.pcie,
             type.pcie_latency);
  }
  for (int from = 0; from < layout.sockets(); ++from) {
    for (int to = 0; to < layout.sockets(); ++to) {
      if (from == to) continue;
      network_.links.push_back(
          {name + ".socket" + std::to_string(from) + ".socket" + std::to_string(to),
           LinkKind::socket, type.socket_link, type.pcie_latency});
      network_.ends.push_back({first_socket + from, first_socket + to});
    }
  }
}

// The NIC's slot, the NIC and the switch port carry the same bytes: one link at the lowest rate.
void HostNetwork::add_nic_links(HostIndex index) {
  const Group& group = group_of(index);
  const HostType& type = group.description->type;
  const std::string& name = network_.hosts[static_cast<std::size_t>(index)];
  const BytesPerSecond capacity = std::min({type.nic, type.pcie, fabric_.link});
  for (int i = 0; i < group.layout.nics(); ++i) {
    const std::string part = name + ".nic" + std::to_string(i);
    add_pair(part + ".out", part + ".in", LinkKind::nic,
             {host_at(index).first_switch + group.layout.switch_of_nic(i),
              layout_.first_leaf() + static_cast<VertexIndex>(layout_.leaf_of(index, i))},
             capacity, fabric_.latency);
  }
}

}  // namespace topology
