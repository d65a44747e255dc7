// Counts the links of a host and numbers them.
#include "topology/host_layout.h"

#include <algorithm>

namespace topology {

HostLayout::HostLayout(const HostType& type, bool has_fabric)
    : devices_(type.devices),
      nics_(has_fabric ? type.nics : 0),
      devices_per_pcie_switch_(type.devices_per_pcie_switch),
      pcie_switches_((type.devices - 1) / type.devices_per_pcie_switch + 1),
      sockets_(type.socket_link.value() > 0 ? std::min(type.sockets, pcie_switches_) : 1),
      domain_size_(1) {
  if (type.scale_up.kind != ScaleUp::Kind::none) {
    domain_size_ = std::int64_t{type.devices} * type.scale_up.domain_hosts;
  }
  const bool has_scale_up = domain_size_ > 1;
  if (has_scale_up) {
    scale_up_stride_ = type.scale_up.kind == ScaleUp::Kind::crossbar ? 2 : domain_size_ - 1;
  }
  const bool peers_by_pcie = devices_ > 1 && !has_scale_up;
  bool is_nic_elsewhere = false;
  for (int device = 0; nics_ > 0 && device < devices_; ++device) {
    const int nic = nics_of_device(device).first;
    is_nic_elsewhere = is_nic_elsewhere || switch_of_nic(nic) != switch_of_device(device);
  }
  has_pcie_ = peers_by_pcie || nics_ > 0;
  has_switch_links_ = pcie_switches_ > 1 && (peers_by_pcie || is_nic_elsewhere);

  first_pcie_ = devices_ * scale_up_stride_;
  first_switch_ = first_pcie_ + (has_pcie_ ? 2 * std::int64_t{devices_} : 0);
  first_socket_ = first_switch_ + (has_switch_links_ ? 2 * std::int64_t{pcie_switches_} : 0);
  first_nic_ = first_socket_ + (has_switch_links_ ? std::int64_t{sockets_} * (sockets_ - 1) : 0);
  link_count_ = first_nic_ + 2 * std::int64_t{nics_};
}

// NIC i sits beside device floor(i * devices / nics), so the last one at or before device d is
// ceil((d + 1) * nics / devices) - 1, and the first one at d, if any, ceil(d * nics / devices).
HostLayout::Nics HostLayout::nics_of_device(int device) const {
  const auto before = [&](int d) { return (d * nics_ + devices_ - 1) / devices_; };
  const int end = before(device + 1);
  if (nics_ <= devices_) return {end - 1, 1};
  return {before(device), end - before(device)};
}

}  // namespace topology
