// What a cluster is made of, as the user writes it; `Cluster` is the graph built from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/quantity.h"

namespace topology {

using sim::Bytes;
using sim::BytesPerSecond;
using sim::Seconds;

// How the devices of one scale-up domain are joined. Rates are one way, per device.
struct ScaleUp {
  enum class Kind { none, crossbar, mesh };  // mesh: a direct link between every two devices
  Kind kind = Kind::none;
  BytesPerSecond per_device;  // NVLink 4: 450 GB/s
  Seconds latency;            // one hop, device to switch (crossbar) or device to device (mesh)
  int domain_hosts = 1;       // hosts in one domain: 18 for GB200 NVL72
  bool sharp = false;         // the switches of a crossbar reduce and multicast
};

// A type of host: what fails together, with its CPU and memory.
struct HostType {
  std::string name;
  std::string device_type;  // a name in the catalog of devices
  int devices = 0;
  ScaleUp scale_up;
  BytesPerSecond pcie;  // one way, each device and each NIC to its PCIe switch
  Seconds pcie_latency;
  int devices_per_pcie_switch = 1;
  BytesPerSecond socket_link;  // one way, between two CPU sockets; 0: a single socket
  int sockets = 2;
  // Spread evenly: NIC i sits beside device i * devices / nics. With fewer NICs than devices each
  // serves those from there to the next NIC's; with more, a device has several.
  int nics = 0;
  BytesPerSecond nic;  // one way
  Bytes memory;        // host DRAM
  BytesPerSecond memory_rate;
  // What its cores read and write of optimizer states when they take a step, from memory that does
  // not bound them.
  BytesPerSecond optimizer_rate;
  int cores = 0;
  double power_watts = 0;  // host without devices; 0: not stated
};

struct HostGroup {
  std::string name;  // hosts are numbered from 0 within it: "h" -> h0, h1, ...
  int count = 0;
  HostType type;
};

struct Fabric {
  enum class Kind { none, one_switch, leaf_spine, rail_optimized, fat_tree, torus, dragonfly };
  Kind kind = Kind::none;
  int hosts_per_group = 32;     // hosts under one leaf, one set of rail leaves, or one router
  int leaves_per_pod = 0;       // fat tree (three tiers); 0: as many as there will be pods
  BytesPerSecond link;          // a switch port, one way
  Seconds latency;              // one link with its switch
  double oversubscription = 1;  // down capacity : up capacity of a leaf, all its ports in use
  // Of each port of a leaf, what others take of its way up and down. REQUIRES: less than that is.
  BytesPerSecond taken = {};
  enum class Routing { sprayed, hashed };
  Routing routing = Routing::sprayed;
  bool sharp = false;           // the switches reduce
  std::vector<int> dimensions;  // torus: routers along each
  // Dragonfly: groups of routers that are all joined to each other, one cable between every two
  // groups; so many of these cables at a router.
  int groups = 0, routers_per_group = 0, global_links = 0;
  bool is_direct() const { return kind == Kind::torus || kind == Kind::dragonfly; }
};

// An arbitrary graph. Cables are two directed links unless one_way.
struct GraphDevice {
  std::string name;
  std::string device_type;
  std::string host;  // devices of one name fail together; empty: a host of its own
};
struct GraphLink {
  std::string from, to;  // names of devices or switches
  BytesPerSecond capacity;
  Seconds latency;
  bool one_way = false;
};
struct Graph {
  std::vector<GraphDevice> devices;
  std::vector<std::string> switches;
  std::vector<GraphLink> links;
  Fabric::Routing routing = Fabric::Routing::sprayed;
};

struct Storage {
  // Beyond the leaves' up links, at every leaf, or on a network of its own, which no NIC is part
  // of.
  enum class At { core, leaf, apart };
  BytesPerSecond write, read;
  At at = At::core;
};

struct Description {
  std::vector<HostGroup> hosts;  // empty when `graph` is given
  Fabric fabric;
  std::optional<Graph> graph;
  // Devices copy to and from the memory of their hosts, and CPUs work there: PCIe links, memory and
  // cores are then among the links.
  bool reaches_host_memory = false;
  int spares = 0;  // hosts
  std::optional<Storage> storage;
};

}  // namespace topology
