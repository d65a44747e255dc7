// Counts the links of a host and numbers them.
#include "topology/host_layout.h"

#include <algorithm>

namespace topology {

HostLayout::HostLayout(const HostType& type, bool has_fabric, bool reaches_memory)
    : devices_(type.devices),
      nics_(has_fabric ? type.nics : 0),
      devices_per_pcie_switch_(type.devices_per_pcie_switch),
      pcie_switches_((type.devices - 1) / type.devices_per_pcie_switch + 1),
      sockets_(type.socket_link.value() > 0 ? std::min(type.sockets, pcie_switches_) : 1),
      memories_(reaches_memory ? std::min(type.sockets, pcie_switches_) : 0),
      domain_size_(1) {
  if (type.scale_up.kind != ScaleUp::Kind::none) {
    domain_size_ = std::int64_t{type.devices} * type.scale_up.domain_hosts;
  }
  const bool has_scale_up = domain_size_ > 1;
  if (has_scale_up) {
    is_mesh_ = type.scale_up.kind == ScaleUp::Kind::mesh;
    scale_up_stride_ = is_mesh_ ? domain_size_ - 1 : 2;
  }
  const bool peers_by_pcie = devices_ > 1 && !has_scale_up;
  bool is_nic_elsewhere = false;
  for (int device = 0; nics_ > 0 && device < devices_; ++device) {
    const int nic = nics_of_device(device).first;
    is_nic_elsewhere = is_nic_elsewhere || switch_of_nic(nic) != switch_of_device(device);
  }
  has_pcie_ = peers_by_pcie || nics_ > 0 || reaches_memory;
  has_switch_links_ = reaches_memory || (pcie_switches_ > 1 && (peers_by_pcie || is_nic_elsewhere));

  first_pcie_ = devices_ * scale_up_stride_;
  first_switch_ = first_pcie_ + (has_pcie_ ? 2 * std::int64_t{devices_} : 0);
  first_socket_ = first_switch_ + (has_switch_links_ ? 2 * std::int64_t{pcie_switches_} : 0);
  first_nic_ = first_socket_ + (has_switch_links_ ? std::int64_t{sockets_} * (sockets_ - 1) : 0);
  first_memory_ = first_nic_ + 2 * std::int64_t{nics_};
  link_count_ = first_memory_ + 2 * std::int64_t{memories_};
}

// NIC i sits beside device floor(i * devices / nics), so the last one at or before device d is
// ceil((d + 1) * nics / devices) - 1, and the first one at d, if any, ceil(d * nics / devices).
HostLayout::Nics HostLayout::nics_of_device(int device) const {
  const auto before = [&](int d) { return (d * nics_ + devices_ - 1) / devices_; };
  const int end = before(device + 1);
  if (nics_ <= devices_) return {end - 1, 1};
  return {before(device), end - before(device)};
}

std::optional<int> HostLayout::device_of(std::int64_t number) const {
  using Owner = Link::Owner;
  const Link link = this->link(number, 0);
  switch (link.owner) {
    case Owner::device_scale_up:
    case Owner::device_pcie:
      return link.index;
    case Owner::nic:
      if (nics_ < devices_) return std::nullopt;
      return link.index * devices_ / nics_;
    case Owner::pcie_switch:
    case Owner::socket:
    case Owner::memory:
      break;
  }
  return std::nullopt;
}

HostLayout::Link HostLayout::link(std::int64_t number, std::int64_t first_position) const {
  using Owner = Link::Owner;
  const auto pair = [](Owner owner, std::int64_t offset) {
    return Link{owner, static_cast<int>(offset / 2), offset % 2};
  };
  // The one itself is left out of its others.
  const auto with_itself = [](std::int64_t other, std::int64_t self) {
    return other < self ? other : other + 1;
  };
  if (number < first_pcie_ && is_mesh_) {
    const std::int64_t device = number / scale_up_stride_;
    return {Owner::device_scale_up, static_cast<int>(device),
            with_itself(number % scale_up_stride_, first_position + device)};
  }
  if (number < first_pcie_) return pair(Owner::device_scale_up, number);
  if (number < first_switch_) return pair(Owner::device_pcie, number - first_pcie_);
  if (number < first_socket_) return pair(Owner::pcie_switch, number - first_switch_);
  if (number >= first_memory_) return pair(Owner::memory, number - first_memory_);
  if (number >= first_nic_) return pair(Owner::nic, number - first_nic_);
  const std::int64_t from = (number - first_socket_) / (sockets_ - 1);
  return {Owner::socket, static_cast<int>(from),
          with_itself((number - first_socket_) % (sockets_ - 1), from)};
}

}  // namespace topology
