// A cluster as a graph of directed links, and the routes on it.
//
// Names of links (each is one direction):
//   h3.gpu5.up, h3.gpu5.down        device to and from the switch of its scale-up domain (crossbar)
//   h3.gpu5.gpu6, h3.gpu5.h4.gpu0   device to device in a mesh, same host and other host
//   h3.gpu5.pcie.out, .in           device to and from its PCIe switch
//   h3.pcie1.up, .down              PCIe switch to and from its socket; only where a route needs it
//   h3.socket0.socket1              between CPU sockets; only where a route needs it
//   h3.memory0, h3.cores0           memory of a CPU socket, for both directions, and its cores;
//                                   only where host memory is reached
//   h3.nic2.out, .in                PCIe switch to leaf and back: the lowest of NIC, slot and port
//   leaf3.up, .down                 leaf to and from all spines (sprayed), or a pod's second tier
//   pod1.up, .down                  second tier of a pod to and from the core (sprayed)
//   leaf3.spine1, spine1.leaf3      leaf to one spine and back (hashed)
//   leaf3.agg1, pod0.agg1.leaf3     fat tree, hashed
//   pod0.agg1.core5, core5.pod0.agg1  fat tree, hashed
//   router3.x+, router3.x-          torus: to the next router along a dimension, and to the one
//   before router3.router5                 dragonfly: within a group, or from group to group a->b,
//   a->b#1                    graph: from a to b; the second of parallel links
// Names of switches: domain0, h3.pcie1, h3.socket0, switch, router3, leaf3, spine1, pod0.agg1,
// core5; where routing is sprayed, spine, pod0 and core each stand for all equal switches of the
// tier. Leaves of a rail-optimized fabric are numbered group * rails + rail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/description.h"

namespace topology {

using DeviceIndex = std::int32_t;
using LinkIndex = std::int32_t;
using HostIndex = std::int32_t;
using VertexIndex = std::int32_t;  // devices first (their DeviceIndex), then switches

struct Device {
  std::string_view device_type;  // into the cluster
  HostIndex host = 0;
  int index_in_host = 0;
  int domain = 0;  // scale-up domain; devices of different hosts may share one. A device without
                   // scale-up links is a domain of its own
  bool sharp = false;  // the switch of its domain reduces and multicasts
};

enum class LinkKind { scale_up, pcie, socket, nic, memory, cores, fabric };

struct Link {
  LinkKind kind = LinkKind::fabric;
  BytesPerSecond capacity;
  Seconds latency;
};

struct LinkEnds {
  VertexIndex from = 0, to = 0;
};

// Where one flow goes: the links it crosses, and on each the share of its bytes (1 on most, 1/k on
// each of k equal-cost links when routing is sprayed).
struct LinkShare {
  LinkIndex link = 0;
  double share = 1;
};
struct Route {
  std::vector<LinkShare> links;
  Seconds latency;             // sum of the latencies of one path, the longest where they differ
  BytesPerSecond capacity;     // least of capacity / share
  bool inside_domain = false;  // uses scale-up links only
  bool inside_host = false;
};

// What a device has of its host: a copy to the memory of its socket, one from there, or what the
// CPU does there.
enum class HostRoute { to_memory, from_memory, work };

// Sizes, in devices, of the parts that look alike and start at multiples of their size. A size need
// not divide the next: domains of 18 hosts lie across leaves of 32.
struct Blocks {
  std::int64_t host = 0;
  std::int64_t domain = 0;  // a scale-up domain; as host where no domain spans several
  std::int64_t group = 0;   // hosts under one leaf or set of rail leaves; 0: no links join leaves
  std::int64_t pod = 0;     // 0: no links join pods
  // Links that join one of them to the next tier; those of the next one follow, in the same order.
  LinkIndex group_links = 0, pod_links = 0;
  bool shares_host_links = false;  // some link of a host carries what several of its devices send
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

  // Devices are in order of host groups, hosts. Spare hosts are the last ones. What is asked for is
  // computed from the description, unless that is a graph; names are unique.
  DeviceIndex device_count() const;
  // Whether the switches between hosts reduce.
  bool has_sharp_fabric() const;
  Device device(DeviceIndex device) const;
  std::string device_name(DeviceIndex device) const;  // "h3.gpu5"
  LinkIndex link_count() const;
  Link link(LinkIndex link) const;
  std::string link_name(LinkIndex link) const;
  LinkEnds ends(LinkIndex link) const;
  // 0: inside a host, of its NICs or its scale-up domain; 1: between a leaf and its spines or its
  // pod's second tier; 2: between a pod and the core. 0 everywhere in an arbitrary graph.
  int tier(LinkIndex link) const;
  // The device that alone sends over a link of a host, or alone receives; none where devices share
  // it, between switches and in an arbitrary graph.
  std::optional<DeviceIndex> device_of(LinkIndex link) const;
  // Of the host that has the link; or of the group, or pod, whose leaf or second tier it joins to
  // the next tier. 0 in an arbitrary graph.
  DeviceIndex first_device(LinkIndex link) const;
  // What all links below a leaf's, or a pod's, can bring to it or take from it together: no more
  // flows through it. Infinite for other links.
  BytesPerSecond capacity_below(LinkIndex link) const;
  VertexIndex vertex_count() const;
  std::string vertex_name(VertexIndex vertex) const;
  HostIndex host_count() const;
  std::string host_name(HostIndex host) const;
  const HostType* host_type(HostIndex host) const;  // null for a host of an arbitrary graph
  std::vector<DeviceIndex> devices_of_host(HostIndex host) const;

  // None for an arbitrary graph, where a hash chooses between paths, and where host groups differ
  // in devices of a host or hosts of a domain.
  std::optional<Blocks> blocks() const;
  // First device of every host group but the first.
  std::vector<DeviceIndex> type_borders() const;

  // Returns the route from one device to another. Shortest in links, then in latency.
  // Between devices of one scale-up domain: the scale-up links. Inside a host without: PCIe.
  // Otherwise through the NICs that serve the source and those that serve the target; where a
  // device has several, its bytes are spread evenly over them. Paths that are still equal share the
  // bytes equally at every branch (sprayed), or a hash of source, target and `flow` picks one
  // (hashed). In an arbitrary graph devices forward. Safe to call from several threads.
  // REQUIRES: source != target.
  Route route(DeviceIndex source, DeviceIndex target, std::uint64_t flow = 0) const;

  // Returns the route between a device and its socket's part of the host's memory, or the memory
  // and the cores that work for it there. REQUIRES: Description::reaches_host_memory, no graph.
  Route host_route(DeviceIndex device, HostRoute what) const;

  // The links of a part, in both directions: those with its name, or that start or end at it. Parts
  // are hosts, devices, NICs, switches, links and ports ("leaf3.port5", the sixth NIC attached); a
  // part stands for its own parts ("h0" for "h0.gpu0" and the rest). Numbers may be "*", "[*]" or
  // "[0..3]": "h[0..3].nic2". Empty where nothing has that name. Ascending. Takes no longer for a
  // large cluster, but as long as the hosts that the numbers leave open, unless it is a graph.
  std::vector<LinkIndex> links_of_part(const std::string& part) const;
  std::vector<DeviceIndex> devices_of_part(const std::string& part) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace topology
