// The format of clusters: hosts on a fabric, or a graph.
#include "sim/scenario/resolve.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

using topology::Description;
using topology::Fabric;
using topology::Graph;
using topology::GraphLink;
using topology::HostGroup;
using topology::Storage;

struct GroupDraft {
  HostGroup group;
  DeviceType device;
};
struct GraphDeviceDraft {
  topology::GraphDevice device;
  DeviceType type;
};

Kind<Fabric::Routing> routing_kind() {
  return word<Fabric::Routing>(
      "routing", {{"sprayed", Fabric::Routing::sprayed}, {"hashed", Fabric::Routing::hashed}});
}

// What only a torus or a dragonfly has; these have none of a tree's.
void check_routers(Reader& reader, const Value& section, const std::string& path,
                   const Fabric& fabric) {
  const bool is_torus = fabric.kind == Fabric::Kind::torus;
  const bool is_dragonfly = fabric.kind == Fabric::Kind::dragonfly;
  struct Key {
    const char* key;
    bool is_needed, is_allowed;
  };
  for (const Key& one :
       {Key{"dimensions", is_torus, is_torus}, Key{"groups", is_dragonfly, is_dragonfly},
        Key{"routers_per_group", is_dragonfly, is_dragonfly},
        Key{"global_links", is_dragonfly, is_dragonfly},
        Key{"hosts_per_group", is_torus || is_dragonfly, true},
        Key{"oversubscription", false, !fabric.is_direct()},
        Key{"leaves_per_pod", false, !fabric.is_direct()}}) {
    const Value* found = section.find(one.key);
    if (found == nullptr && one.is_needed) {
      report_missing(reader, section, path, one.key, "a torus or a dragonfly says it");
    }
    if (found != nullptr && !one.is_allowed) {
      reader.error(joined_path(path, one.key), found->name_place(),
                   fmt::format("'{}' of a fabric of another kind in {}", one.key, path), "",
                   "remove it, or change the kind");
    }
  }
}

void check_fabric(Reader& reader, const Value& section, const std::string& path, Fabric& fabric) {
  if (fabric.kind == Fabric::Kind::none) return;
  for (const char* key : {"link", "latency"}) {
    if (section.find(key) == nullptr) {
      report_missing(reader, section, path, key, "a fabric with switches says it");
    }
  }
  check_routers(reader, section, path, fabric);
}

Section<Fabric> fabric_table() {
  Section<Fabric> table("the network between hosts");
  table
      .required("kind",
                word<Fabric::Kind>("kind", {{"none", Fabric::Kind::none},
                                            {"one-switch", Fabric::Kind::one_switch},
                                            {"leaf-spine", Fabric::Kind::leaf_spine},
                                            {"rail-optimized", Fabric::Kind::rail_optimized},
                                            {"fat-tree", Fabric::Kind::fat_tree},
                                            {"torus", Fabric::Kind::torus},
                                            {"dragonfly", Fabric::Kind::dragonfly}}),
                &Fabric::kind, "how the switches are wired")
      .defaulted(
          "hosts_per_group", small_count(1, 1'000'000), &Fabric::hosts_per_group, "32",
          "hosts under one leaf, one set of rail leaves, one pod's edge switch, or one router")
      .optional("dimensions", list(small_count(2, 4096), 2), &Fabric::dimensions,
                "of a torus: routers along each of its 2 or 3 dimensions")
      .optional("groups", small_count(2, 65536), &Fabric::groups,
                "of a dragonfly: groups, one cable between every two")
      .optional("routers_per_group", small_count(1, 4096), &Fabric::routers_per_group,
                "of a dragonfly: routers of a group, all joined to each other")
      .optional("global_links", small_count(1, 4096), &Fabric::global_links,
                "of a dragonfly: cables to other groups at each router")
      .optional("leaves_per_pod", small_count(1, 100'000), &Fabric::leaves_per_pod,
                "edge switches of a pod of a fat tree; enough for a square tree unless written")
      .optional("link", byte_rate(), &Fabric::link, "rate of a switch port, one way")
      .optional("latency", duration(), &Fabric::latency, "one link with its switch")
      .defaulted("oversubscription", number(0.01, 1000), &Fabric::oversubscription, "1",
                 "down capacity : up capacity of a leaf")
      .defaulted("routing", routing_kind(), &Fabric::routing, "sprayed",
                 "over equal-cost paths: sprayed evenly, or one path by a hash")
      .defaulted("sharp", flag(), &Fabric::sharp, "false", "the switches reduce (SHARP)")
      .check(check_fabric);
  return table;
}

Section<Storage> storage_table() {
  Section<Storage> table("shared storage");
  table.required("write", byte_rate(), &Storage::write, "rate of all writers together")
      .required("read", byte_rate(), &Storage::read, "rate of all readers together")
      .defaulted(
          "at",
          word<Storage::At>("at", {{"core", Storage::At::core},
                                   {"leaf", Storage::At::leaf},
                                   {"apart", Storage::At::apart}}),
          &Storage::at, "core",
          "beyond the leaves' up links, at every leaf, or on a network of its own; in a torus or "
          "dragonfly at every router unless apart");
  return table;
}

Section<GroupDraft> host_group_table() {
  Section<GroupDraft> table("hosts of one type");
  table
      .required(
          "name", text(), [](GroupDraft& d, std::string name) { d.group.name = std::move(name); },
          "hosts are numbered from 0 within it: h gives h0, h1, ...")
      .required(
          "count", small_count(1, 100'000'000),
          [](GroupDraft& d, int count) { d.group.count = count; }, "hosts")
      .required(
          "type", catalog_kind("hosts", "host", host_table(), Naming::text),
          [](GroupDraft& d, HostDraft host) {
            d.group.type = std::move(host.type);
            d.device = std::move(host.device);
          },
          "name in the catalog, a file, or written out");
  return table;
}

Section<GraphDeviceDraft> graph_device_table() {
  Section<GraphDeviceDraft> table("a device of a graph");
  table
      .required(
          "name", text(),
          [](GraphDeviceDraft& d, std::string name) { d.device.name = std::move(name); },
          "unique name")
      .required(
          "type", catalog_kind("devices", "device", device_table(), Naming::text),
          [](GraphDeviceDraft& d, DeviceType type) {
            d.device.device_type = type.name;
            d.type = std::move(type);
          },
          "name in the catalog, a file, or written out")
      .optional(
          "host", text(),
          [](GraphDeviceDraft& d, std::string host) { d.device.host = std::move(host); },
          "devices of one host fail together; a host of its own unless written");
  return table;
}

Section<GraphLink> graph_link_table() {
  Section<GraphLink> table("a cable of a graph");
  table.required("from", text(), &GraphLink::from, "a device or a switch")
      .required("to", text(), &GraphLink::to, "a device or a switch")
      .required("capacity", byte_rate(), &GraphLink::capacity, "one way")
      .required("latency", duration(), &GraphLink::latency, "one way")
      .defaulted("one_way", flag(), &GraphLink::one_way, "false",
                 "only from `from` to `to`; otherwise a second link goes back");
  return table;
}

bool is_same(const DeviceType& a, const DeviceType& b) {
  return a.peak == b.peak && a.memory == b.memory && a.memory_rate == b.memory_rate &&
         a.multiprocessors == b.multiprocessors && a.l2 == b.l2 && a.profile == b.profile &&
         a.power_watts == b.power_watts && a.is_ideal == b.is_ideal;
}

// One name, one type.
void collect(Reader& reader, const std::string& path, const DeviceType& type,
             std::map<std::string, DeviceType>& types) {
  const auto [known, is_new] = types.emplace(type.name, type);
  if (is_new || is_same(known->second, type)) return;
  reader.error(path, reader.place(path),
               fmt::format("a second device type '{}' that differs from the first", type.name), "",
               "give each type a name of its own");
}

void check_one_form(Reader& reader, const Value& section, const std::string& path,
                    ClusterDraft& cluster) {
  const bool has_hosts = section.find("hosts") != nullptr;
  const bool has_graph = section.find("devices") != nullptr;
  const std::string forms = "write hosts and fabric, or devices, switches and links";
  if (!has_hosts && !has_graph) {
    reader.error(path, section.name_place(), fmt::format("neither hosts nor devices in {}", path),
                 "", forms);
    return;
  }
  if (!has_graph) cluster.description.graph.reset();
  for (const Entry& entry : section.entries) {
    bool is_of_graph = false, is_of_hosts = false;
    for (const char* key : {"devices", "switches", "links", "routing"})
      is_of_graph |= entry.key == key;
    for (const char* key : {"hosts", "fabric", "spares"}) is_of_hosts |= entry.key == key;
    if (has_hosts ? is_of_graph : is_of_hosts) {
      reader.error(joined_path(path, entry.key), entry.key_place(),
                   fmt::format("'{}' in a {} of {}", entry.key, path,
                               has_hosts ? "hosts" : "devices and links"),
                   "a cluster is made of hosts on a fabric, or is a graph", forms);
    }
  }
}

void set_hosts(Reader& reader, const std::string& path, ClusterDraft& cluster,
               std::vector<GroupDraft> groups) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    collect(reader, fmt::format("{}.{}.type", path, i), groups[i].device, cluster.device_types);
    cluster.description.hosts.push_back(std::move(groups[i].group));
  }
}

void set_devices(Reader& reader, const std::string& path, ClusterDraft& cluster,
                 std::vector<GraphDeviceDraft> devices) {
  Graph& graph =
      cluster.description.graph ? *cluster.description.graph : cluster.description.graph.emplace();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    collect(reader, fmt::format("{}.{}.type", path, i), devices[i].type, cluster.device_types);
    graph.devices.push_back(std::move(devices[i].device));
  }
}

template <class T>
auto in_graph(T Graph::*member) {
  return [member](ClusterDraft& cluster, T value) {
    auto& graph = cluster.description.graph;
    (graph ? *graph : graph.emplace()).*member = std::move(value);
  };
}

template <class T>
auto in_description(T Description::*member) {
  return [member](ClusterDraft& cluster, auto value) {
    cluster.description.*member = std::move(value);
  };
}

}  // namespace

Section<ClusterDraft> cluster_table() {
  Section<ClusterDraft> table("the machines: hosts on a fabric, or any graph");
  table
      .optional(
          "name", text(), [](ClusterDraft&, const std::string&) {}, "short name")
      .optional(
          "full_name", text(), [](ClusterDraft&, const std::string&) {}, "long name")
      .optional(
          "source", text(), [](ClusterDraft&, const std::string&) {}, "where the figures are from")
      .optional_with_reader("hosts", list(host_group_table().kind(), 1), set_hosts,
                            "groups of hosts; several make a mixed cluster")
      .optional("fabric", fabric_table().kind(), in_description(&Description::fabric),
                "the network between hosts; none unless written")
      .optional("spares", small_count(0), in_description(&Description::spares),
                "hosts kept idle, the last ones")
      .optional("storage", storage_table().kind(), in_description(&Description::storage),
                "shared storage")
      .optional_with_reader("devices", list(graph_device_table().kind(), 1), set_devices,
                            "the devices of a graph")
      .optional("switches", list(text()), in_graph(&Graph::switches),
                "names of switches of a graph")
      .optional("links", list(graph_link_table().kind()), in_graph(&Graph::links),
                "cables of a graph")
      .optional("routing", routing_kind(), in_graph(&Graph::routing), "as in fabric, on a graph")
      .check(check_one_form);
  return table;
}

}  // namespace sim::scenario
