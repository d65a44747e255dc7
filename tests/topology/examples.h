// Small descriptions that the tests share, and what they check of every route.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/approximately.h"
#include "topology/cluster.h"

namespace topology {

using sim::approximately;
using sim::gigabits_per_second;
using sim::gigabytes_per_second;
using sim::microseconds;

// 8 devices at 450 GB/s on a crossbar, a NIC of 50 GB/s each, a PCIe switch each at 64 GB/s.
inline HostType crossbar_host() {
  HostType type;
  type.name = "crossbar";
  type.device_type = "fast";
  type.devices = 8;
  type.scale_up = {ScaleUp::Kind::crossbar, gigabytes_per_second(450), microseconds(0.3), 1};
  type.pcie = gigabytes_per_second(64);
  type.pcie_latency = microseconds(0.5);
  type.devices_per_pcie_switch = 1;
  type.socket_link = gigabytes_per_second(80);
  type.sockets = 2;
  type.nics = 8;
  type.nic = gigabits_per_second(400);
  return type;
}

// 8 devices with nothing but PCIe at 32 GB/s, 4 to a switch, a switch to a socket; 2 NICs.
inline HostType pcie_host() {
  HostType type = crossbar_host();
  type.name = "pcie";
  type.device_type = "plain";
  type.scale_up = {};
  type.pcie = gigabytes_per_second(32);
  type.devices_per_pcie_switch = 4;
  type.socket_link = gigabytes_per_second(20);
  type.nics = 2;
  type.nic = gigabits_per_second(200);
  return type;
}

inline Fabric fabric_of(Fabric::Kind kind, int hosts_per_group) {
  Fabric fabric;
  fabric.kind = kind;
  fabric.hosts_per_group = hosts_per_group;
  fabric.link = gigabits_per_second(400);
  fabric.latency = microseconds(0.6);
  return fabric;
}

inline Description description_of(HostType type, int count, Fabric fabric) {
  Description description;
  description.hosts.push_back({"h", count, std::move(type)});
  description.fabric = fabric;
  return description;
}

inline DeviceIndex device_named(const Cluster& cluster, const std::string& name) {
  DeviceIndex device = 0;
  while (device < cluster.device_count() && cluster.device_name(device) != name) ++device;
  REQUIRE_MESSAGE(device < cluster.device_count(), name);
  return device;
}

inline Link link_named(const Cluster& cluster, const std::string& name) {
  LinkIndex link = 0;
  while (link < cluster.link_count() && cluster.link_name(link) != name) ++link;
  REQUIRE_MESSAGE(link < cluster.link_count(), name);
  return cluster.link(link);
}

inline Route route_of(const Cluster& cluster, const std::string& source, const std::string& target,
                      std::uint64_t flow = 0) {
  return cluster.route(device_named(cluster, source), device_named(cluster, target), flow);
}

// "h0.gpu0.up h0.gpu1.down"; a share other than 1 follows its link: "h0.nic0.out*0.25".
inline std::string text_of(const Cluster& cluster, const Route& route) {
  std::string text;
  for (const auto& [link, share] : route.links) {
    if (!text.empty()) text += ' ';
    text += cluster.link_name(link);
    if (share != 1) text += '*' + std::to_string(share).substr(0, 5);
  }
  return text;
}

// What flows into a vertex flows out of it, except one unit from source to target; no link twice;
// capacity is what the fullest link leaves.
inline void check_is_flow(const Cluster& cluster, DeviceIndex source, DeviceIndex target,
                          const Route& route) {
  std::map<VertexIndex, double> surplus;
  std::map<LinkIndex, double> shares;
  double capacity = 1e300;
  for (const auto& [link, share] : route.links) {
    CHECK(shares.emplace(link, share).second);
    CHECK(share > 0);
    CHECK(share <= 1 + 1e-12);
    surplus[cluster.ends(link).from] -= share;
    surplus[cluster.ends(link).to] += share;
    const Link l = cluster.link(link);
    capacity = std::min(capacity, l.capacity.value() / share);
  }
  surplus[source] += 1;
  surplus[target] -= 1;
  for (const auto& [vertex, bytes] : surplus) {
    CAPTURE(cluster.vertex_name(vertex));
    CHECK(std::abs(bytes) < 1e-12);
  }
  CHECK(route.capacity.value() == approximately(capacity));
}

inline void check_all_routes(const Cluster& cluster) {
  const DeviceIndex count = cluster.device_count();
  for (DeviceIndex source = 0; source < count; ++source) {
    for (DeviceIndex target = 0; target < count; ++target) {
      if (source == target) continue;
      CAPTURE(source);
      CAPTURE(target);
      check_is_flow(cluster, source, target, cluster.route(source, target, 7));
    }
  }
}

inline bool has_error(const Description& description) {
  const auto found = Cluster::findings(description);
  return std::any_of(found.begin(), found.end(), [](const Finding& f) { return f.is_error; });
}

}  // namespace topology
