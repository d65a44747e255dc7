// Routes between devices of a cluster of host groups.
#include <algorithm>

#include "sim/base/invariant.h"
#include "topology/host_network.h"

namespace topology {

// Collects the links of a route. Shares are counted in whole parts of `parts`, so that they add up
// exactly. Between fork() and join(), paths run side by side: the longest counts.
class HostNetwork::Assembly {
 public:
  Assembly(const Network& network, int parts, std::size_t links_expected)
      : network_(network), parts_(parts) {
    route_.links.reserve(links_expected);
  }

  void add(LinkIndex link, int parts) {
    latency_ += network_.link(link).latency;
    if (is_merging_) {
      for (LinkShare& known : route_.links) {
        if (known.link != link) continue;
        known.share += parts;
        return;
      }
    }
    route_.links.push_back({link, static_cast<double>(parts)});
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
    for (LinkShare& l : route_.links) l.share /= parts_;
    route_.latency = latency_;
    route_.capacity = route_capacity(network_, route_.links);
    return std::move(route_);
  }

 private:
  const Network& network_;
  int parts_;
  Route route_;
  Seconds latency_, before_, longest_;
  bool is_merging_ = false;
};

HostNetwork::End HostNetwork::end_of(DeviceIndex index) const {
  const Device& device = network_.device(index);
  return {group_of(device.host), host_at(device.host), device.index_in_host, device.host};
}

HostIndex HostNetwork::domain_start(HostIndex host) const {
  const Group& group = group_of(host);
  const HostIndex number = host - group.first_host;
  return host - number % group.description->type.scale_up.domain_hosts;
}

void HostNetwork::cross_domain(const End& source, const End& target, Assembly& route) const {
  const HostLayout& layout = source.group.layout;
  if (source.group.description->type.scale_up.kind == ScaleUp::Kind::crossbar) {
    route.add(source.link(layout.scale_up_link(source.index)), 1);
    route.add(target.link(layout.scale_up_link(target.index) + 1), 1);
    return;
  }
  const auto position = [&](const End& end) {
    return std::int64_t{end.host_index - domain_start(end.host_index)} * layout.devices() +
           end.index;
  };
  route.add(source.link(layout.mesh_link(source.index, position(source), position(target))), 1);
}

void HostNetwork::cross_pcie(const End& end, int from_switch, int to_switch, int parts,
                             Assembly& route) const {
  if (from_switch == to_switch) return;
  const HostLayout& layout = end.group.layout;
  const int from_socket = layout.socket_of_switch(from_switch);
  const int to_socket = layout.socket_of_switch(to_switch);
  route.add(end.link(layout.switch_link(from_switch)), parts);
  if (from_socket != to_socket) {
    route.add(end.link(layout.socket_link(from_socket, to_socket)), parts);
  }
  route.add(end.link(layout.switch_link(to_switch) + 1), parts);
}

// The source's NICs cut its bytes into equal parts, and so do the target's; where the i-th part on
// one side overlaps the j-th on the other, there is a path from NIC i to NIC j. Equal numbers of
// NICs pair up one to one.
void HostNetwork::cross_fabric(const End& source, const End& target, std::uint64_t seed,
                               Assembly& route) const {
  const HostLayout& from = source.group.layout;
  const HostLayout& to = target.group.layout;
  const HostLayout::Nics out = from.nics_of_device(source.index);
  const HostLayout::Nics in = to.nics_of_device(target.index);
  if (out.count > 1 || in.count > 1) route.fork();
  int start = 0;
  for (int i = 0, j = 0; i < out.count && j < in.count;) {
    const int out_end = (i + 1) * in.count;
    const int in_end = (j + 1) * out.count;
    const int end = std::min(out_end, in_end);
    const int parts = end - start;
    const int out_nic = out.first + i;
    const int in_nic = in.first + j;
    cross_pcie(source, from.switch_of_device(source.index), from.switch_of_nic(out_nic), parts,
               route);
    route.add(source.link(from.nic_link(out_nic)), parts);
    const FabricLayout::Links links =
        layout_.between(layout_.leaf_of(source.host_index, out_nic),
                        layout_.leaf_of(target.host_index, in_nic), mixed(seed, start));
    for (int k = 0; k < links.count; ++k) route.add(links.links[k], parts);
    route.add(target.link(to.nic_link(in_nic) + 1), parts);
    cross_pcie(target, to.switch_of_nic(in_nic), to.switch_of_device(target.index), parts, route);
    if (out.count > 1 || in.count > 1) route.next_path();
    start = end;
    i += out_end == end;
    j += in_end == end;
  }
  if (out.count > 1 || in.count > 1) route.join();
}

Route HostNetwork::route(DeviceIndex source_index, DeviceIndex target_index,
                         std::uint64_t flow) const {
  const Device& source_device = network_.device(source_index);
  const Device& target_device = network_.device(target_index);
  const End source = end_of(source_index);
  const End target = end_of(target_index);
  const bool inside_domain = source_device.domain == target_device.domain;
  const bool inside_host = source.host_index == target.host_index;
  int parts = 1;
  if (!inside_domain && !inside_host) {
    parts = source.group.layout.nics_of_device(source.index).count *
            target.group.layout.nics_of_device(target.index).count;
  }
  Assembly route(network_, parts, inside_domain ? 2 : 6 + 4 * static_cast<std::size_t>(parts));
  if (inside_domain) {
    cross_domain(source, target, route);
  } else {
    const HostLayout& from = source.group.layout;
    const HostLayout& to = target.group.layout;
    route.add(source.link(from.pcie_link(source.index)), parts);
    if (inside_host) {
      cross_pcie(source, from.switch_of_device(source.index), to.switch_of_device(target.index), 1,
                 route);
    } else {
      const std::uint64_t seed = mixed(mixed(flow, static_cast<std::uint64_t>(source_index)),
                                       static_cast<std::uint64_t>(target_index));
      cross_fabric(source, target, seed, route);
    }
    route.add(target.link(to.pcie_link(target.index) + 1), parts);
  }
  Route result = route.finish();
  result.inside_domain = inside_domain;
  result.inside_host = inside_host;
  return result;
}

}  // namespace topology
