// Devices, switches and links with their names: what every cluster is, however it was described.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "topology/cluster.h"

namespace topology {

struct Network {
  std::vector<Device> devices;
  std::vector<std::string> switches;  // names of the vertices after the devices
  std::vector<Link> links;
  std::vector<LinkEnds> ends;  // ends[link]

  std::vector<std::string> hosts;
  std::vector<const HostType*> host_types;   // [host]; null in an arbitrary graph
  std::vector<DeviceIndex> devices_by_host;  // host after host
  std::vector<std::size_t> first_device;     // [host], into devices_by_host; one more at the end

  // What a host owns is contiguous, hosts first; empty in an arbitrary graph.
  std::vector<std::size_t> first_link;    // [host], into links; one more at the end
  std::vector<std::size_t> first_switch;  // [host], into switches; one more at the end

  VertexIndex vertex_of_switch(std::size_t index) const {
    return static_cast<VertexIndex>(devices.size() + index);
  }
  const Link& link(LinkIndex index) const { return links[static_cast<std::size_t>(index)]; }
  const Device& device(DeviceIndex index) const { return devices[static_cast<std::size_t>(index)]; }
};

// Finds routes on a network.
class Router {
 public:
  virtual ~Router() = default;
  virtual Route route(DeviceIndex source, DeviceIndex target, std::uint64_t flow) const = 0;
};

// The capacity that the shares of a route leave to one flow.
inline BytesPerSecond route_capacity(const Network& network, const std::vector<LinkShare>& links) {
  BytesPerSecond least = network.link(links.front().link).capacity / links.front().share;
  for (const LinkShare& l : links) least = std::min(least, network.link(l.link).capacity / l.share);
  return least;
}

// A number that looks random, the same on every machine (splitmix64's finalizer).
// Source: Steele, Lea and Flood, OOPSLA '14, figure 16 (variant 13).
inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return mixed(mixed(a + 0x9e3779b97f4a7c15U) ^ b);
}

}  // namespace topology
