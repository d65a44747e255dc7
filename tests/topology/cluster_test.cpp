// Clusters as a whole: order, unique names, parts, and that every route is a flow.
#include <random>
#include <set>

#include "tests/topology/examples.h"

namespace topology {

namespace {

template <class T>
T one_of(std::mt19937& random, std::initializer_list<T> values) {
  return values.begin()[random() % values.size()];
}

HostType random_host(std::mt19937& random) {
  HostType type = one_of(random, {0, 1}) ? crossbar_host() : pcie_host();
  type.devices = one_of(random, {1, 2, 3, 4, 8});
  type.nics = one_of(random, {1, 1, type.devices, 2 * type.devices, 3 * type.devices});
  type.devices_per_pcie_switch = one_of(random, {1, 2, 3, 8});
  type.sockets = one_of(random, {1, 2, 4});
  if (type.scale_up.kind != ScaleUp::Kind::none) {
    type.scale_up.kind = one_of(random, {ScaleUp::Kind::crossbar, ScaleUp::Kind::mesh});
    type.scale_up.domain_hosts = one_of(random, {1, 1, 2});
  }
  return type;
}

Description random_description(std::mt19937& random) {
  using Kind = Fabric::Kind;
  Description d;
  d.fabric = fabric_of(
      one_of(random, {Kind::one_switch, Kind::leaf_spine, Kind::rail_optimized, Kind::fat_tree}),
      one_of(random, {1, 2, 3, 32}));
  d.fabric.routing = one_of(random, {Fabric::Routing::sprayed, Fabric::Routing::hashed});
  d.fabric.oversubscription = one_of(random, {1.0, 1.5, 4.0, 100.0});
  d.fabric.leaves_per_pod = one_of(random, {0, 1, 2});
  d.hosts.push_back({"a", one_of(random, {2, 4}), random_host(random)});
  if (random() % 2) d.hosts.push_back({"b", 2, random_host(random)});
  return d;
}

std::vector<std::string> names(const Cluster& cluster, const std::vector<LinkIndex>& links) {
  std::vector<std::string> result;
  for (const LinkIndex link : links) {
    result.push_back(cluster.link_name(link));
  }
  return result;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("random clusters: every route is a flow, names are unique, there and back are alike") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const Description description = random_description(random);
    REQUIRE_FALSE(has_error(description));
    const Cluster cluster(description);
    check_all_routes(cluster);
    std::set<std::string> seen;
    for (LinkIndex link = 0; link < cluster.link_count(); ++link) {
      CAPTURE(cluster.link_name(link));
      CHECK(seen.insert(cluster.link_name(link)).second);
      CHECK(cluster.link(link).capacity.value() > 0);
    }
    for (VertexIndex v = 0; v < cluster.vertex_count(); ++v) {
      CAPTURE(cluster.vertex_name(v));
      CHECK(seen.insert(cluster.vertex_name(v)).second);
    }
    const DeviceIndex count = cluster.device_count();
    for (DeviceIndex other = 1; other < count; ++other) {
      const Route there = cluster.route(0, other), back = cluster.route(other, 0);
      CHECK(there.latency.value() == approximately(back.latency));
      // A hash may choose other spines on the way back.
      if (description.fabric.routing == Fabric::Routing::sprayed) {
        CHECK(there.links.size() == back.links.size());
        CHECK(there.capacity.value() == approximately(back.capacity));
      }
      CHECK(there.inside_domain == (cluster.device(0).domain == cluster.device(other).domain));
    }
  }
}

TEST_CASE("order: host groups, hosts, devices") {
  Description d = description_of(crossbar_host(), 2, fabric_of(Fabric::Kind::one_switch, 32));
  d.hosts.push_back({"p", 1, pcie_host()});
  const Cluster cluster(d);
  REQUIRE(cluster.device_count() == 24);
  CHECK(cluster.device_name(8) == "h1.gpu0");
  CHECK(cluster.device(8).host == 1);
  CHECK(cluster.device_name(23) == "p0.gpu7");
  CHECK(cluster.device(23).index_in_host == 7);
  CHECK(cluster.devices_of_host(1).size() == 8);
  CHECK(cluster.devices_of_host(1)[7] == 15);
}

TEST_CASE("parts: devices, NICs, ranges, hosts, switches, ports") {
  const Cluster cluster(
      description_of(crossbar_host(), 12, fabric_of(Fabric::Kind::rail_optimized, 4)));
  CHECK(cluster.devices_of_part("h1.gpu2") == std::vector<DeviceIndex>{10});
  CHECK(cluster.devices_of_part("h2.gpu[*]").size() == 8);
  CHECK(cluster.devices_of_part("h2.gpu*").size() == 8);
  CHECK(cluster.devices_of_part("h2") == cluster.devices_of_part("h2.gpu[0..7]"));
  CHECK(cluster.devices_of_part("h[9..11].gpu0") == std::vector<DeviceIndex>{72, 80, 88});
  CHECK(cluster.devices_of_part("h[*]").size() == 96);
  CHECK(cluster.devices_of_part("h1.nic2").empty());

  CHECK(names(cluster, cluster.links_of_part("h1.gpu2")) ==
        Names{"h1.gpu2.up", "h1.gpu2.down", "h1.gpu2.pcie.out", "h1.gpu2.pcie.in"});
  CHECK(names(cluster, cluster.links_of_part("h1.gpu2.pcie")) ==
        Names{"h1.gpu2.pcie.out", "h1.gpu2.pcie.in"});
  CHECK(names(cluster, cluster.links_of_part("h[0..1].nic2")) ==
        Names{"h0.nic2.out", "h0.nic2.in", "h1.nic2.out", "h1.nic2.in"});
  CHECK(cluster.links_of_part("h1").size() == 48);
  CHECK(cluster.links_of_part("h[*]").size() == 12 * 48);
  // Rail 1 of group 0: four ports, and up and down.
  CHECK(names(cluster, cluster.links_of_part("leaf1")) ==
        Names{"h0.nic1.out", "h0.nic1.in", "h1.nic1.out", "h1.nic1.in", "h2.nic1.out", "h2.nic1.in",
              "h3.nic1.out", "h3.nic1.in", "leaf1.up", "leaf1.down"});
  CHECK(names(cluster, cluster.links_of_part("leaf1.port3")) == Names{"h3.nic1.out", "h3.nic1.in"});
  CHECK(names(cluster, cluster.links_of_part("leaf1.up")) == Names{"leaf1.up"});
  CHECK(cluster.links_of_part("leaf[0..23].up").size() == 24);
  CHECK(cluster.links_of_part("domain0").size() == 16);
  for (const char* unknown : {"", "h12", "h1.gpu8", "h1.gp", "h", "leaf24", "leaf1.port4", "h[3",
                              "h[4..2]", "h[1..x]", "h]", "h01", "spine0"}) {
    CAPTURE(unknown);
    CHECK(cluster.links_of_part(unknown).empty());
    CHECK(cluster.devices_of_part(unknown).empty());
  }
}

TEST_CASE("parts: a spine, where routing is hashed") {
  Description d = description_of(crossbar_host(), 2, fabric_of(Fabric::Kind::leaf_spine, 1));
  d.fabric.oversubscription = 4;
  d.fabric.routing = Fabric::Routing::hashed;
  const Cluster cluster(d);
  CHECK(names(cluster, cluster.links_of_part("spine1")) ==
        Names{"leaf0.spine1", "spine1.leaf0", "leaf1.spine1", "spine1.leaf1"});
}

}  // namespace topology
