// Which host a device, link or switch belongs to, and its name.
#include "topology/host_groups.h"

#include <fmt/format.h>

#include <algorithm>

namespace topology {

namespace {

// What a host's links are like, by kind. The NIC's slot, the NIC and the switch port carry the same
// bytes: one link at the lowest rate.
std::array<Link, 6> links_of(const HostType& type, const HostLayout& layout, const Fabric& fabric) {
  const ScaleUp& scale_up = type.scale_up;
  BytesPerSecond to_peer = scale_up.per_device;
  if (scale_up.kind == ScaleUp::Kind::mesh && layout.domain_size() > 1) {
    to_peer = to_peer / static_cast<double>(layout.domain_size() - 1);
  }
  const double memories = std::max(layout.memories(), 1);
  return {Link{LinkKind::scale_up, to_peer, scale_up.latency},
          Link{LinkKind::pcie, type.pcie, type.pcie_latency},
          Link{LinkKind::socket, type.socket_link, type.pcie_latency},
          Link{LinkKind::nic, std::min({type.nic, type.pcie, fabric.link}), fabric.latency},
          Link{LinkKind::memory, type.memory_rate / memories, Seconds(0)},
          Link{LinkKind::cores, type.optimizer_rate / memories, Seconds(0)}};
}

}  // namespace

bool Group::has_crossbar() const {
  return layout.domain_size() > 1 && description->type.scale_up.kind == ScaleUp::Kind::crossbar;
}

std::string Host::device_name(int i) const { return name() + ".gpu" + std::to_string(i); }

std::string Host::switch_name(int i) const {
  const int pcie_switches = group.layout.pcie_switches();
  const std::string& stem = group.description->name;
  if (i < pcie_switches) return fmt::format("{}{}.pcie{}", stem, number, i);
  return fmt::format("{}{}.socket{}", stem, number, i - pcie_switches);
}

std::string Host::link_name(std::int64_t i) const {
  using Owner = HostLayout::Link::Owner;
  const HostLayout::Link link = group.layout.link(i, position(0));
  const bool is_second = link.other == 1;
  const std::string& stem = group.description->name;
  switch (link.owner) {
    case Owner::device_scale_up: {
      if (group.has_crossbar()) return device_name(link.index) + (is_second ? ".down" : ".up");
      const InHost<int> peer = peer_at(*this, link.other);
      if (peer.host.number == number) {
        return fmt::format("{}.gpu{}", device_name(link.index), peer.number);
      }
      return device_name(link.index) + "." + peer.host.device_name(peer.number);
    }
    case Owner::device_pcie:
      return device_name(link.index) + (is_second ? ".pcie.in" : ".pcie.out");
    case Owner::pcie_switch:
      return switch_name(link.index) + (is_second ? ".down" : ".up");
    case Owner::socket:
      return fmt::format("{}{}.socket{}.socket{}", stem, number, link.index, link.other);
    case Owner::memory:
      return fmt::format("{}{}.{}{}", stem, number, is_second ? "cores" : "memory", link.index);
    case Owner::nic:
      break;
  }
  return fmt::format("{}{}.nic{}.{}", stem, number, link.index, is_second ? "in" : "out");
}

InHost<int> peer_at(const Host& host, std::int64_t position) {
  const HostLayout& layout = host.group.layout;
  const auto before = static_cast<int>(host.position(0) / layout.devices());  // hosts of the domain
  return {{host.group, host.number - before + static_cast<int>(position / layout.devices())},
          static_cast<int>(position % layout.devices())};
}

HostGroups::HostGroups(const std::vector<HostGroup>& descriptions, const Fabric& fabric,
                       bool reaches_memory) {
  int domains = 0;
  for (const HostGroup& description : descriptions) {
    const HostLayout layout(description.type, fabric.kind != Fabric::Kind::none, reaches_memory);
    Group& group = groups_.emplace_back(
        Group{&description, layout, links_of(description.type, layout, fabric)});
    group.first_host = end_.host;
    group.first_device = end_.device;
    group.first_link = end_.link;
    group.first_domain = domains;
    end_.host += description.count;
    end_.device += description.count * layout.devices();
    end_.link += static_cast<LinkIndex>(description.count * layout.link_count());
    domains += static_cast<int>(group.domain_count());
  }
  end_.own_switch = end_.device;
  for (Group& group : groups_) {
    group.first_switch = end_.own_switch;
    end_.own_switch += group.description->count * group.layout.switches();
  }
  end_.domain_switch = end_.own_switch;
  for (Group& group : groups_) {
    group.first_domain_switch = end_.domain_switch;
    if (group.has_crossbar()) end_.domain_switch += static_cast<VertexIndex>(group.domain_count());
  }
}

// Groups that own nothing of the kind start where the next one does.
template <class Index>
const Group& HostGroups::group_of(Index Group::*first, Index index) const {
  std::size_t g = groups_.size() - 1;
  while (groups_[g].*first > index) --g;
  return groups_[g];
}

Host HostGroups::host(HostIndex index) const {
  const Group& group = group_of(&Group::first_host, index);
  return {group, index - group.first_host};
}

InHost<int> HostGroups::device(DeviceIndex index) const {
  const Group& group = group_of(&Group::first_device, index);
  const int offset = index - group.first_device;
  return {{group, offset / group.layout.devices()}, offset % group.layout.devices()};
}

InHost<std::int64_t> HostGroups::link(LinkIndex index) const {
  const Group& group = group_of(&Group::first_link, index);
  const std::int64_t offset = index - group.first_link;
  const std::int64_t count = group.layout.link_count();
  return {{group, static_cast<int>(offset / count)}, offset % count};
}

InHost<int> HostGroups::own_switch(VertexIndex index) const {
  const Group& group = group_of(&Group::first_switch, index);
  const int offset = index - group.first_switch;
  return {{group, offset / group.layout.switches()}, offset % group.layout.switches()};
}

Host HostGroups::host_of_domain(int domain) const {
  const Group& group = group_of(&Group::first_domain, domain);
  const std::int64_t device = (domain - group.first_domain) * group.layout.domain_size();
  return {group, static_cast<int>(device / group.layout.devices())};
}

int HostGroups::domain_of_switch(VertexIndex index) const {
  const Group& group = group_of(&Group::first_domain_switch, index);
  return group.first_domain + index - group.first_domain_switch;
}

}  // namespace topology
