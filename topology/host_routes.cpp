// Routes between devices of a cluster of host groups.
#include <algorithm>
#include <limits>

#include "topology/host_network.h"

namespace topology {

// Collects the links of a route. Shares are counted in whole parts of `parts`, so that they add up
// exactly. Between fork() and join(), paths run side by side: the longest counts.
class HostNetwork::Assembly {
 public:
  Assembly(const HostNetwork& network, int parts, std::size_t links_expected)
      : network_(network), parts_(parts) {
    route_.links.reserve(links_expected);
    route_.capacity = BytesPerSecond(std::numeric_limits<double>::infinity());
  }

  void add(LinkIndex index, const Link& link, int parts) {
    latency_ += link.latency;
    if (is_merging_) {
      for (LinkShare& known : route_.links) {
        if (known.link != index) continue;
        known.share += parts;
        return;
      }
    }
    route_.links.push_back({index, static_cast<double>(parts)});
    narrow(link, static_cast<double>(parts) / parts_);
  }
  // Link `number` of a host.
  void add(const Host& host, LinkKind kind, std::int64_t number, int parts) {
    add(host.link(number), host.group.link(kind), parts);
  }
  void fork() {
    longest_ = Seconds(0);
    before_ = latency_;
    is_merging_ = true;
  }
  void next_path() {
    longest_ = std::max(longest_, latency_);
    latency_ = before_;
  }
  void join() { latency_ = longest_; }

  Route finish() {
    for (LinkShare& l : route_.links) {
      l.share /= parts_;
      // Its share may have grown after it was added.
      if (is_merging_) narrow(network_.link(l.link), l.share);
    }
    route_.latency = latency_;
    return std::move(route_);
  }

 private:
  void narrow(const Link& link, double share) {
    route_.capacity = std::min(route_.capacity, link.capacity / share);
  }

  const HostNetwork& network_;
  int parts_;
  Route route_;
  Seconds latency_, before_, longest_;
  bool is_merging_ = false;
};

void HostNetwork::cross_domain(const End& source, const End& target, Assembly& route) const {
  const HostLayout& layout = source.host.group.layout;
  constexpr LinkKind kind = LinkKind::scale_up;
  if (source.host.group.has_crossbar()) {
    route.add(source.host, kind, layout.scale_up_link(source.number), 1);
    route.add(target.host, kind, layout.scale_up_link(target.number) + 1, 1);
    return;
  }
  const std::int64_t from = source.host.position(source.number);
  const std::int64_t to = target.host.position(target.number);
  route.add(source.host, kind, layout.mesh_link(source.number, from, to), 1);
}

void HostNetwork::cross_pcie(const Host& host, int from_switch, int to_switch, int parts,
                             Assembly& route) const {
  if (from_switch == to_switch) return;
  const HostLayout& layout = host.group.layout;
  const int from_socket = layout.socket_of_switch(from_switch);
  const int to_socket = layout.socket_of_switch(to_switch);
  route.add(host, LinkKind::pcie, layout.switch_link(from_switch), parts);
  if (from_socket != to_socket) {
    route.add(host, LinkKind::socket, layout.socket_link(from_socket, to_socket), parts);
  }
  route.add(host, LinkKind::pcie, layout.switch_link(to_switch) + 1, parts);
}

// The source's NICs cut its bytes into equal parts, and so do the target's; where the i-th part on
// one side overlaps the j-th on the other, there is a path from NIC i to NIC j. Equal numbers of
// NICs pair up one to one.
void HostNetwork::cross_fabric(const End& source, const End& target, std::uint64_t seed,
                               Assembly& route) const {
  const HostLayout& from = source.host.group.layout;
  const HostLayout& to = target.host.group.layout;
  const HostLayout::Nics out = from.nics_of_device(source.number);
  const HostLayout::Nics in = to.nics_of_device(target.number);
  if (out.count > 1 || in.count > 1) route.fork();
  int start = 0;
  const int unit = fabric_->has_halves() ? 2 : 1;
  std::vector<FabricShape::Hop> hops;
  for (int i = 0, j = 0; i < out.count && j < in.count;) {
    const int out_end = (i + 1) * in.count;
    const int in_end = (j + 1) * out.count;
    const int end = std::min(out_end, in_end);
    const int parts = (end - start) * unit;
    const int out_nic = out.first + i;
    const int in_nic = in.first + j;
    cross_pcie(source.host, from.switch_of_device(source.number), from.switch_of_nic(out_nic),
               parts, route);
    route.add(source.host, LinkKind::nic, from.nic_link(out_nic), parts);
    hops.clear();
    fabric_->route(fabric_->leaf_of(source.host.index(), out_nic),
                   fabric_->leaf_of(target.host.index(), in_nic),
                   mixed(seed, static_cast<std::uint64_t>(start)), hops);
    for (const FabricShape::Hop& hop : hops) {
      Link link = fabric_->link(hop.link);
      if (hop.is_beside) link.latency = Seconds(0);
      route.add(hosts_.link_count() + static_cast<LinkIndex>(hop.link), link,
                hop.is_half ? parts / 2 : parts);
    }
    route.add(target.host, LinkKind::nic, to.nic_link(in_nic) + 1, parts);
    cross_pcie(target.host, to.switch_of_nic(in_nic), to.switch_of_device(target.number), parts,
               route);
    if (out.count > 1 || in.count > 1) route.next_path();
    start = end;
    i += out_end == end;
    j += in_end == end;
  }
  if (out.count > 1 || in.count > 1) route.join();
}

Route HostNetwork::route(DeviceIndex source_index, DeviceIndex target_index,
                         std::uint64_t flow) const {
  const End source = hosts_.device(source_index);
  const End target = hosts_.device(target_index);
  const HostLayout& from = source.host.group.layout;
  const HostLayout& to = target.host.group.layout;
  const bool inside_domain = source.host.domain(source.number) == target.host.domain(target.number);
  const bool inside_host = source.host.index() == target.host.index();
  int parts = 1;
  if (!inside_domain && !inside_host) {
    parts = from.nics_of_device(source.number).count * to.nics_of_device(target.number).count *
            (fabric_->has_halves() ? 2 : 1);
  }
  Assembly route(*this, parts, inside_domain ? 2 : 6 + 4 * static_cast<std::size_t>(parts));
  if (inside_domain) {
    cross_domain(source, target, route);
  } else {
    route.add(source.host, LinkKind::pcie, from.pcie_link(source.number), parts);
    if (inside_host) {
      cross_pcie(source.host, from.switch_of_device(source.number),
                 to.switch_of_device(target.number), 1, route);
    } else {
      const std::uint64_t seed = mixed(mixed(flow, static_cast<std::uint64_t>(source_index)),
                                       static_cast<std::uint64_t>(target_index));
      cross_fabric(source, target, seed, route);
    }
    route.add(target.host, LinkKind::pcie, to.pcie_link(target.number) + 1, parts);
  }
  Route result = route.finish();
  result.inside_domain = inside_domain;
  result.inside_host = inside_host;
  return result;
}

Route HostNetwork::host_route(DeviceIndex index, HostRoute what) const {
  const End device = hosts_.device(index);
  const Host& host = device.host;
  const HostLayout& layout = host.group.layout;
  const int pcie_switch = layout.switch_of_device(device.number);
  const std::int64_t memory = layout.memory_link(layout.memory_of_device(device.number));
  Assembly route(*this, 1, 3);
  const bool is_back = what == HostRoute::from_memory;
  if (what != HostRoute::work) {
    route.add(host, LinkKind::pcie, layout.pcie_link(device.number) + is_back, 1);
    route.add(host, LinkKind::pcie, layout.switch_link(pcie_switch) + is_back, 1);
  }
  route.add(host, LinkKind::memory, memory, 1);
  if (what == HostRoute::work) route.add(host, LinkKind::cores, memory + 1, 1);
  Route result = route.finish();
  result.inside_host = true;
  return result;
}

}  // namespace topology
