// What every cluster can answer, however it was described.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/cluster.h"

namespace topology {

// The functions are those of Cluster.
class Network {
 public:
  virtual ~Network() = default;

  virtual DeviceIndex device_count() const = 0;
  virtual Device device(DeviceIndex device) const = 0;
  virtual std::string device_name(DeviceIndex device) const = 0;
  virtual LinkIndex link_count() const = 0;
  virtual Link link(LinkIndex link) const = 0;
  virtual std::string link_name(LinkIndex link) const = 0;
  virtual LinkEnds ends(LinkIndex link) const = 0;
  virtual int tier(LinkIndex link) const = 0;
  virtual std::optional<DeviceIndex> device_of(LinkIndex link) const = 0;
  virtual DeviceIndex first_device(LinkIndex link) const = 0;
  virtual BytesPerSecond capacity_below(LinkIndex link) const = 0;
  virtual VertexIndex vertex_count() const = 0;
  virtual std::string vertex_name(VertexIndex vertex) const = 0;
  virtual HostIndex host_count() const = 0;
  virtual std::string host_name(HostIndex host) const = 0;
  virtual const HostType* host_type(HostIndex host) const = 0;
  virtual std::vector<DeviceIndex> devices_of_host(HostIndex host) const = 0;
  virtual std::optional<Blocks> blocks() const = 0;
  virtual std::vector<DeviceIndex> type_borders() const = 0;
  virtual Route route(DeviceIndex source, DeviceIndex target, std::uint64_t flow) const = 0;
  virtual Route host_route(DeviceIndex device, HostRoute what) const = 0;
  virtual std::vector<LinkIndex> links_of_part(const std::string& part) const = 0;
  virtual std::vector<DeviceIndex> devices_of_part(const std::string& part) const = 0;
};

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
