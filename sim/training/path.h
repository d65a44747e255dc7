// The links and memories that a set of transfers between devices loads.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "calibrate/profile/profile.h"
#include "sim/base/fixed.h"
#include "topology/cluster.h"

namespace sim::training {

using topology::DeviceIndex;
using topology::LinkIndex;

// How one byte of an operation's size loads the cluster.
struct Path {
  std::vector<std::pair<LinkIndex, double>> links;     // bytes through the link
  std::vector<std::pair<DeviceIndex, double>> memory;  // bytes through the device's memory
  double reference = 0;         // largest of the links' bytes; footprints are relative to it
  double seconds_per_byte = 0;  // alone, at the efficiency of each kind of link
  Seconds latency;
  Seconds fill;      // of a pipeline, for a message of any length
  int channels = 0;  // multiprocessors the kernel takes on each device
};

// Device memory traffic per byte sent. Assumed: what is sent is read and what arrives is written;
// a reduction also reads the operand it adds to.
inline constexpr double memory_passes_copy = 2;
inline constexpr double memory_passes_reduce = 3;

struct DeviceHop {
  DeviceIndex source, target;
  double bytes;
};

// Adds up the hops; fills everything but the latency. Returns the largest route latencies
// (inside a host or domain, between hosts). `overhead` is bytes on the wire for one of payload.
std::pair<Seconds, Seconds> add_hops(const topology::Cluster& cluster,
                                     const calibrate::profile::NetworkConstants& network,
                                     std::span<const DeviceHop> hops, double overhead,
                                     double memory_passes, Path& path);
// Bytes sent side by side from each source to its target, as one operation.
Path side_by_side(const topology::Cluster& cluster, const calibrate::profile::Profile& profile,
                  std::span<const std::pair<DeviceIndex, DeviceIndex>> pairs);
// Of each of these devices a byte to or from its host's memory, or of what the CPU does for it,
// side by side.
Path host_path(const topology::Cluster& cluster,
               const calibrate::profile::NetworkConstants& network,
               std::span<const DeviceIndex> devices, topology::HostRoute what);
// Bytes a second through the busiest link of a transfer that takes so long alone. In-switch
// reduction moves fewer bytes than the ring's; a port is never used beyond its rate.
std::int64_t within_links(const topology::Cluster& cluster, const Path& path, Bytes size,
                          Seconds duration);

}  // namespace sim::training
