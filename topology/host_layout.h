// Where things sit inside a host of some type, and which of the host's links lead there.
//
// A host's links are numbered: scale-up links of device 0, 1, ...; then pairs (out, in) of the
// devices' PCIe links; pairs (up, down) of PCIe switches; links between sockets; pairs (out, in) of
// the NICs; pairs (memory, cores) of the sockets. Its own switches: PCIe switches, then sockets.
#pragma once

#include <cstdint>
#include <optional>

#include "topology/cluster.h"

namespace topology {

class HostLayout {
 public:
  // REQUIRES: the type's counts are positive.
  HostLayout(const HostType& type, bool has_fabric, bool reaches_memory);

  // Devices in one scale-up domain, over all its hosts; 1 without scale-up links.
  std::int64_t domain_size() const { return domain_size_; }
  bool has_pcie() const { return has_pcie_; }
  // Without, every route stays below one PCIe switch, and links above the switches are left out.
  bool has_switch_links() const { return has_switch_links_; }
  int devices() const { return devices_; }
  int nics() const { return nics_; }
  int pcie_switches() const { return has_pcie_ ? pcie_switches_ : 0; }
  int sockets() const { return has_switch_links_ ? sockets_ : 0; }
  int switches() const { return pcie_switches() + sockets(); }

  int switch_of_device(int device) const { return device / devices_per_pcie_switch_; }
  int switch_of_nic(int nic) const { return switch_of_device(nic * devices_ / nics_); }
  int socket_of_switch(int pcie_switch) const { return pcie_switch * sockets_ / pcie_switches_; }
  // Where a device's part of the host's memory is, counted as the type's sockets are; where no link
  // between these is slow, the layout has but one.
  int memory_of_device(int device) const {
    return switch_of_device(device) * memories_ / pcie_switches_;
  }
  int memories() const { return memories_; }
  struct Nics {
    int first, count;
  };
  Nics nics_of_device(int device) const;

  // The device that alone sends or receives over a link, if there is one.
  std::optional<int> device_of(std::int64_t number) const;
  bool shares_links() const { return has_switch_links_ || (nics_ > 0 && nics_ < devices_); }

  // Number of a link inside the host. `peer`: position in the domain (mesh).
  std::int64_t scale_up_link(int device) const { return device * scale_up_stride_; }
  std::int64_t mesh_link(int device, std::int64_t position, std::int64_t peer) const {
    return device * scale_up_stride_ + (peer < position ? peer : peer - 1);
  }
  std::int64_t pcie_link(int device) const { return first_pcie_ + 2 * std::int64_t{device}; }
  std::int64_t switch_link(int pcie_switch) const {
    return first_switch_ + 2 * std::int64_t{pcie_switch};
  }
  std::int64_t socket_link(int from, int to) const {
    return first_socket_ + std::int64_t{from} * (sockets_ - 1) + (to < from ? to : to - 1);
  }
  std::int64_t nic_link(int nic) const { return first_nic_ + 2 * std::int64_t{nic}; }
  std::int64_t memory_link(int memory) const { return first_memory_ + 2 * std::int64_t{memory}; }
  std::int64_t link_count() const { return link_count_; }
  std::int64_t first_memory_link() const { return first_memory_; }
  // Links that leave a device for others of its domain (mesh), or up and down (crossbar).
  std::int64_t scale_up_stride() const { return scale_up_stride_; }
  std::int64_t first_pcie_link() const { return first_pcie_; }      // of devices
  std::int64_t first_switch_link() const { return first_switch_; }  // of PCIe switches

  // The way back from a number.
  struct Link {
    enum class Owner { device_scale_up, device_pcie, pcie_switch, socket, nic, memory };
    Owner owner;
    int index;           // of the owner
    std::int64_t other;  // mesh: position of the peer; socket: the other; pairs: 1 for the second
  };
  // `first_position`: of device 0 in its domain.
  Link link(std::int64_t number, std::int64_t first_position) const;
  LinkKind kind(std::int64_t number) const {
    if (number < first_pcie_) return LinkKind::scale_up;
    if (number < first_socket_) return LinkKind::pcie;
    if (number < first_nic_) return LinkKind::socket;
    if (number < first_memory_) return LinkKind::nic;
    return (number - first_memory_) % 2 == 0 ? LinkKind::memory : LinkKind::cores;
  }

 private:
  int devices_, nics_, devices_per_pcie_switch_, pcie_switches_, sockets_, memories_;
  std::int64_t domain_size_;
  std::int64_t scale_up_stride_ = 0;  // links of one device
  bool is_mesh_ = false;
  bool has_pcie_, has_switch_links_;
  std::int64_t first_pcie_, first_switch_, first_socket_, first_nic_, first_memory_, link_count_;
};

}  // namespace topology
