// A cluster as a graph of directed links, and the routes on it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "topology/description.h"

namespace topology {

using DeviceIndex = std::int32_t;
using LinkIndex = std::int32_t;
using HostIndex = std::int32_t;

struct Device {
  std::string name;         // "h3.gpu5"
  std::string device_type;
  HostIndex host = 0;
  int index_in_host = 0;
  int domain = 0;           // scale-up domain; devices of different hosts may share one
};

enum class LinkKind { scale_up, pcie, socket, nic, fabric };

struct Link {
  std::string name;  // "h3.gpu5.up", "h3.nic2.out", "leaf3.spine1"; unique
  LinkKind kind = LinkKind::fabric;
  BytesPerSecond capacity;
  Seconds latency;
};

// Where one flow goes: the links it crosses, and on each the share of its bytes (1 on most, 1/k on
// each of k equal-cost links when routing is sprayed).
struct LinkShare {
  LinkIndex link = 0;
  double share = 1;
};
struct Route {
  std::vector<LinkShare> links;
  Seconds latency;          // sum of the latencies of one path
  BytesPerSecond capacity;  // least of capacity / share
  bool inside_domain = false;  // uses scale-up links only
  bool inside_host = false;
};

// Something about the description that cannot be built, or is legal but surprising.
struct Finding {
  enum class Subject { host_group, fabric, graph_link, graph_device, cluster };
  bool is_error = true;
  Subject subject = Subject::cluster;
  int index = 0;  // of the host group, the graph's link or device
  std::string message, why, hint;
};

class Cluster {
 public:
  // All that is wrong with a description, in one go; build() only when none is an error.
  static std::vector<Finding> findings(const Description& description);
  // REQUIRES: findings(description) has no error.
  explicit Cluster(const Description& description);
  ~Cluster();
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;

  // In order of host groups, hosts, devices. Spare hosts are the last ones.
  std::span<const Device> devices() const;
  std::span<const Link> links() const;
  int host_count() const;
  const std::string& host_name(HostIndex host) const;
  const HostType* host_type(HostIndex host) const;  // null for a host of an arbitrary graph
  std::span<const DeviceIndex> devices_of_host(HostIndex host) const;

  // Returns the route from one device to another. Shortest in links, then in latency.
  // Between devices of one scale-up domain: the scale-up links. Inside a host without: PCIe.
  // Otherwise through the NIC that serves the source device and, on rail-optimized and PCIe-affine
  // hosts, the NIC that serves the target. `flow` selects the path when routing is hashed.
  // REQUIRES: source != target.
  Route route(DeviceIndex source, DeviceIndex target, std::uint64_t flow = 0) const;

  // Links whose name matches, with "*" and "[0..3]" in numbers: "h[0..3].nic2". Both directions of a part.
  std::vector<LinkIndex> links_of_part(const std::string& part) const;
  std::vector<DeviceIndex> devices_of_part(const std::string& part) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace topology
