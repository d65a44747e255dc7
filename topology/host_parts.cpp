// Finds the devices and links of a cluster of host groups that a name of a part stands for.
//
// A pattern is asked which numbers its names can have, and only those names are compared with it.
#include <algorithm>

#include "topology/host_network.h"

namespace topology {

std::vector<DeviceIndex> HostNetwork::devices_of_part(const std::string& part) const {
  const PartPattern pattern(part);
  std::vector<DeviceIndex> result;
  for (const Group& group : hosts_.groups()) {
    const auto add_of_host = [&](std::int64_t number) {
      const Host host{group, static_cast<int>(number)};
      const bool is_whole = pattern.matches(host.name());
      for (int i = 0; i < group.layout.devices(); ++i) {
        if (is_whole || pattern.matches_part_of(host.device_name(i))) {
          result.push_back(host.device(i));
        }
      }
    };
    pattern.each_number(group.description->name, 0, group.description->count, add_of_host);
  }
  return result;
}

std::vector<LinkIndex> HostNetwork::links_of_part(const std::string& part) const {
  const PartPattern pattern(part);
  std::vector<LinkIndex> found;
  for (const Group& group : hosts_.groups()) {
    pattern.each_number(group.description->name, 0, group.description->count,
                        [&](std::int64_t number) {
                          add_in_host({group, static_cast<int>(number)}, pattern, found);
                        });
  }
  add_domains(pattern, found);
  add_fabric(pattern, found);
  add_ports(part, found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void HostNetwork::add_in_host(const Host& host, const PartPattern& pattern, Found& found) const {
  const HostLayout& layout = host.group.layout;
  if (pattern.matches(host.name())) {
    for (std::int64_t i = 0; i < layout.first_memory_link(); ++i) found.push_back(host.link(i));
    for (int i = 0; i < layout.devices(); ++i) add_from_peers(host, i, found);
    return;
  }
  const auto add_if_named = [&](std::int64_t link) {
    if (pattern.matches_part_of(host.link_name(link))) found.push_back(host.link(link));
  };
  pattern.each_number(host.name() + ".gpu", 0, layout.devices(), [&](std::int64_t number) {
    const auto device = static_cast<int>(number);
    const bool is_whole = pattern.matches(host.device_name(device));
    const auto add = [&](std::int64_t link) {
      is_whole ? found.push_back(host.link(link)) : add_if_named(link);
    };
    for (std::int64_t i = 0; i < layout.scale_up_stride(); ++i) {
      add(layout.scale_up_link(device) + i);
    }
    if (layout.has_pcie()) {
      add(layout.pcie_link(device));
      add(layout.pcie_link(device) + 1);
    }
    if (is_whole) add_from_peers(host, device, found);
  });
  for (int i = 0; i < layout.switches(); ++i) {
    if (pattern.matches_part_of(host.switch_name(i))) add_own_switch(host, i, found);
  }
  for (std::int64_t i = layout.first_switch_link(); i < layout.link_count(); ++i) add_if_named(i);
}

// In a mesh, links to a device are owned by the hosts of the others.
void HostNetwork::add_from_peers(const Host& host, int device, Found& found) {
  const HostLayout& layout = host.group.layout;
  if (layout.domain_size() == 1 || host.group.has_crossbar()) return;
  const std::int64_t position = host.position(device);
  for (std::int64_t p = 0; p < layout.domain_size(); ++p) {
    if (p == position) continue;
    const End peer = peer_at(host, p);
    found.push_back(peer.host.link(layout.mesh_link(peer.number, p, position)));
  }
}

void HostNetwork::add_own_switch(const Host& host, int number, Found& found) const {
  const HostLayout& layout = host.group.layout;
  const VertexIndex vertex = host.own_switch(number);
  for (std::int64_t i = layout.first_pcie_link(); i < layout.first_memory_link(); ++i) {
    const LinkEnds ends = ends_in_host(host, i);
    if (ends.from == vertex || ends.to == vertex) found.push_back(host.link(i));
  }
}

void HostNetwork::add_domains(const PartPattern& pattern, Found& found) const {
  for (const Group& group : hosts_.groups()) {
    if (!group.has_crossbar()) continue;
    const HostLayout& layout = group.layout;
    const auto add = [&](std::int64_t domain) {
      if (!pattern.matches_part_of("domain" + std::to_string(domain))) return;
      const Host first = hosts_.host_of_domain(static_cast<int>(domain));
      for (std::int64_t position = 0; position < layout.domain_size(); ++position) {
        const End device = peer_at(first, position);
        found.push_back(device.host.link(layout.scale_up_link(device.number)));
        found.push_back(device.host.link(layout.scale_up_link(device.number) + 1));
      }
    };
    pattern.each_number("domain", group.first_domain, group.first_domain + group.domain_count(),
                        add);
  }
}

// The NICs plugged into a leaf, in runs of equal hosts.
std::vector<HostNetwork::Plugged> HostNetwork::plugged_into(std::int64_t leaf) const {
  std::vector<Plugged> result;
  const FabricShape::Plugged plugged = fabric_->plugged(leaf);
  for (const Group& group : hosts_.groups()) {
    const std::int64_t first = std::max(plugged.first - group.first_host, std::int64_t{0});
    const std::int64_t end =
        std::min(plugged.end - group.first_host, std::int64_t{group.description->count});
    const int nics = group.layout.nics();
    if (first >= end) continue;
    if (!plugged.nic) {
      result.push_back({group, first, end - first, 0, nics});
    } else if (*plugged.nic < nics) {
      result.push_back({group, first, end - first, *plugged.nic, 1});
    }
  }
  return result;
}

// Ports are numbered in the order of the NICs plugged in.
void HostNetwork::add_port(const std::vector<Plugged>& plugged, std::int64_t port, Found& found) {
  for (const Plugged& run : plugged) {
    const std::int64_t ports = run.hosts * run.nics;
    if (port < ports) {
      const Host host{run.group, static_cast<int>(run.first_host + port / run.nics)};
      const auto nic = static_cast<int>(run.first_nic + port % run.nics);
      found.push_back(host.link(run.group.layout.nic_link(nic)));
      found.push_back(host.link(run.group.layout.nic_link(nic) + 1));
      return;
    }
    port -= ports;
  }
}

std::int64_t HostNetwork::port_count(const std::vector<Plugged>& plugged) {
  std::int64_t count = 0;
  for (const Plugged& run : plugged) count += run.hosts * run.nics;
  return count;
}

void HostNetwork::add_fabric(const PartPattern& pattern, Found& found) const {
  const auto add = [&](const std::vector<std::int64_t>& links) {
    for (const std::int64_t link : links) {
      found.push_back(hosts_.link_count() + static_cast<LinkIndex>(link));
    }
  };
  add(fabric_->links_named(pattern));
  for (const std::int64_t number : fabric_->switches_of_part(pattern)) {
    add(fabric_->links_at(number));
    if (number >= fabric_->leaves()) continue;
    const std::vector<Plugged> plugged = plugged_into(number);
    const std::int64_t ports = port_count(plugged);
    for (std::int64_t port = 0; port < ports; ++port) add_port(plugged, port, found);
  }
}

// "leaf3.port5"
void HostNetwork::add_ports(const std::string& part, Found& found) const {
  const std::size_t dot = part.rfind(".port");
  if (dot == std::string::npos) return;
  const PartPattern leaves(std::string_view(part).substr(0, dot));
  const PartPattern port(std::string_view(part).substr(dot + 1));
  for (const std::int64_t leaf : fabric_->switches_of_part(leaves)) {
    if (leaf >= fabric_->leaves()) return;
    const std::vector<Plugged> plugged = plugged_into(leaf);
    port.each_number("port", 0, port_count(plugged), [&](std::int64_t number) {
      if (port.matches("port" + std::to_string(number))) add_port(plugged, number, found);
    });
  }
}

}  // namespace topology
