// Fabrics: links and capacities counted by hand, bisection by maximum flow, routes.
#include <limits>
#include <queue>
#include <set>

#include "tests/topology/examples.h"

namespace topology {

namespace {

// Largest flow from the first half of the devices to the second, by shortest augmenting paths.
double bisection(const Cluster& cluster) {
  const auto devices = static_cast<std::size_t>(cluster.device_count());
  const auto vertices = static_cast<std::size_t>(cluster.vertex_count());
  const std::size_t source = vertices, sink = vertices + 1;
  std::vector<std::map<std::size_t, double>> left(vertices + 2);
  for (LinkIndex l = 0; l < cluster.link_count(); ++l) {
    const LinkEnds ends = cluster.ends(l);
    left[static_cast<std::size_t>(ends.from)][static_cast<std::size_t>(ends.to)] +=
        cluster.link(l).capacity.value();
  }
  for (std::size_t d = 0; d < devices; ++d) {
    if (d < devices / 2) {
      left[source][d] = 1e18;
    } else {
      left[d][sink] = 1e18;
    }
  }
  double total = 0;
  while (true) {
    std::vector<std::size_t> before(vertices + 2, vertices + 2);
    std::queue<std::size_t> queue({source});
    before[source] = source;
    while (!queue.empty() && before[sink] > sink) {
      const std::size_t v = queue.front();
      queue.pop();
      for (const auto& [to, capacity] : left[v]) {
        if (capacity > 1 && before[to] > sink) {
          before[to] = v;
          queue.push(to);
        }
      }
    }
    if (before[sink] > sink) return total;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t v = sink; v != source; v = before[v]) {
      least = std::min(least, left[before[v]][v]);
    }
    for (std::size_t v = sink; v != source; v = before[v]) {
      left[before[v]][v] -= least;
      left[v][before[v]] += least;
    }
    total += least;
  }
}

std::size_t count_of(const Cluster& cluster, LinkKind kind) {
  std::size_t count = 0;
  for (LinkIndex l = 0; l < cluster.link_count(); ++l) count += cluster.link(l).kind == kind;
  return count;
}

Description leaf_spine(int hosts, int hosts_per_group, double oversubscription,
                       Fabric::Routing routing) {
  Description d =
      description_of(crossbar_host(), hosts, fabric_of(Fabric::Kind::leaf_spine, hosts_per_group));
  d.fabric.oversubscription = oversubscription;
  d.fabric.routing = routing;
  return d;
}

}  // namespace

TEST_CASE("one switch: links, bisection, route") {
  const Cluster cluster(
      description_of(crossbar_host(), 4, fabric_of(Fabric::Kind::one_switch, 32)));
  // 4 hosts x 8 devices, each with two links to its domain's switch, two to its PCIe switch, and
  // two of its NIC. The NIC sits beside its device, so nothing crosses sockets.
  CHECK(count_of(cluster, LinkKind::scale_up) == 64);
  CHECK(count_of(cluster, LinkKind::pcie) == 64);
  CHECK(count_of(cluster, LinkKind::nic) == 64);
  CHECK(count_of(cluster, LinkKind::socket) == 0);
  CHECK(count_of(cluster, LinkKind::fabric) == 0);
  // 16 NICs of 50 GB/s lead from one half to the other.
  CHECK(bisection(cluster) == approximately(16 * 50e9));

  const Route route = route_of(cluster, "h0.gpu5", "h3.gpu2");
  CHECK(text_of(cluster, route) == "h0.gpu5.pcie.out h0.nic5.out h3.nic2.in h3.gpu2.pcie.in");
  CHECK(route.latency.value() == approximately(2 * 0.5e-6 + 2 * 0.6e-6));
  CHECK(route.capacity.value() == approximately(50e9));
  CHECK_FALSE(route.inside_host);
  CHECK_FALSE(route.inside_domain);
}

TEST_CASE("leaf-spine, sprayed: one link up and down a leaf, bisection") {
  const Cluster cluster(leaf_spine(8, 2, 4, Fabric::Routing::sprayed));
  // 4 leaves of 2 x 8 ports of 50 GB/s; 4 : 1 leaves 16 x 50 / 4 = 200 GB/s up.
  CHECK(count_of(cluster, LinkKind::fabric) == 2 * 4);
  CHECK(link_named(cluster, "leaf3.up").capacity.value() == approximately(200e9));
  CHECK(link_named(cluster, "leaf3.down").capacity.value() == approximately(200e9));
  // Two leaves on either side.
  CHECK(bisection(cluster) == approximately(400e9));

  const Route far = route_of(cluster, "h0.gpu0", "h7.gpu1");
  CHECK(text_of(cluster, far) ==
        "h0.gpu0.pcie.out h0.nic0.out leaf0.up leaf3.down h7.nic1.in h7.gpu1.pcie.in");
  CHECK(far.latency.value() == approximately(2 * 0.5e-6 + 4 * 0.6e-6));
  const Route near = route_of(cluster, "h2.gpu0", "h3.gpu1");
  CHECK(text_of(cluster, near) == "h2.gpu0.pcie.out h2.nic0.out h3.nic1.in h3.gpu1.pcie.in");
}

TEST_CASE("leaf-spine, hashed: every up link, same bisection, flows spread over spines") {
  const Cluster cluster(leaf_spine(8, 2, 4, Fabric::Routing::hashed));
  // 16 ports / 4 = 4 up links of a leaf, one to each of 4 spines: 4 x 4 pairs.
  CHECK(count_of(cluster, LinkKind::fabric) == 2 * 16);
  CHECK(link_named(cluster, "leaf3.spine2").capacity.value() == approximately(50e9));
  CHECK(link_named(cluster, "spine2.leaf3").capacity.value() == approximately(50e9));
  CHECK(bisection(cluster) == approximately(400e9));

  std::map<std::string, int> spines;
  for (std::uint64_t flow = 0; flow < 400; ++flow) {
    const Route route = route_of(cluster, "h0.gpu0", "h7.gpu1", flow);
    const std::string text = text_of(cluster, route);
    const std::size_t at = text.find("leaf0.spine");
    REQUIRE(at != std::string::npos);
    const std::string spine = text.substr(at + 6, 6);
    CHECK(text == "h0.gpu0.pcie.out h0.nic0.out leaf0." + spine + " " + spine +
                      ".leaf3 h7.nic1.in h7.gpu1.pcie.in");
    ++spines[spine];
  }
  // 400 throws on 4 spines: mean 100, standard deviation sqrt(400 x 3/16) = 8.7; 5 deviations.
  CHECK(spines.size() == 4);
  for (const auto& [spine, count] : spines) CHECK(std::abs(count - 100) < 44);
}

TEST_CASE("leaf-spine: an odd oversubscription keeps the capacity, no up link beats a port") {
  // 2 hosts x 8 = 16 ports / 3 = 5.33 ports up: 6 links of 50 x 16 / 3 / 6 = 44.4 GB/s.
  const Cluster cluster(leaf_spine(8, 2, 3, Fabric::Routing::hashed));
  CHECK(count_of(cluster, LinkKind::fabric) == 2 * 4 * 6);
  CHECK(link_named(cluster, "leaf0.spine5").capacity.value() == approximately(800e9 / 3 / 6));
}

TEST_CASE("leaf-spine: fewer hosts than a leaf takes need no spine") {
  const Cluster cluster(leaf_spine(4, 32, 2, Fabric::Routing::sprayed));
  CHECK(count_of(cluster, LinkKind::fabric) == 0);
  CHECK(bisection(cluster) == approximately(16 * 50e9));
}

TEST_CASE("rail-optimized: a leaf per rail and group, other rails over spines") {
  Description d = description_of(crossbar_host(), 8, fabric_of(Fabric::Kind::rail_optimized, 4));
  d.fabric.oversubscription = 2;
  const Cluster cluster(d);
  // 2 groups x 8 rails, 4 ports each: 4 x 50 / 2 = 100 GB/s up.
  CHECK(count_of(cluster, LinkKind::fabric) == 2 * 16);
  CHECK(link_named(cluster, "leaf15.up").capacity.value() == approximately(100e9));
  // Between the groups: 8 leaves of 100 GB/s.
  CHECK(bisection(cluster) == approximately(800e9));

  // Same rail, same group: one leaf. Rail 3 of group 1 is leaf 8 + 3.
  const auto fabric_links = [&](const char* source, const char* target) {
    std::string text = text_of(cluster, route_of(cluster, source, target));
    text = text.substr(text.find(".out ", text.find("nic")) + 5);
    return text.substr(0, text.find(" h"));
  };
  CHECK(text_of(cluster, route_of(cluster, "h4.gpu3", "h7.gpu3")) ==
        "h4.gpu3.pcie.out h4.nic3.out h7.nic3.in h7.gpu3.pcie.in");
  CHECK(fabric_links("h0.gpu3", "h7.gpu3") == "leaf3.up leaf11.down");
  CHECK(fabric_links("h0.gpu3", "h1.gpu4") == "leaf3.up leaf4.down");
  // Inside a host no rail is used.
  CHECK(text_of(cluster, route_of(cluster, "h4.gpu3", "h4.gpu4")) == "h4.gpu3.up h4.gpu4.down");
}

TEST_CASE("rail-optimized: a cluster of one group is wired for its hosts") {
  // 4 hosts under leaves for 32: 4 ports of 50 GB/s at 4 : 1.
  Description d = description_of(crossbar_host(), 4, fabric_of(Fabric::Kind::rail_optimized, 32));
  d.fabric.oversubscription = 4;
  CHECK(link_named(Cluster(d), "leaf0.up").capacity.value() == approximately(50e9));
}

TEST_CASE("fat tree, sprayed: three tiers, oversubscribed at the leaf only") {
  Description d = description_of(crossbar_host(), 8, fabric_of(Fabric::Kind::fat_tree, 1));
  d.fabric.oversubscription = 2;
  d.fabric.leaves_per_pod = 2;
  const Cluster cluster(d);
  // 8 leaves of 8 ports: 8 x 50 / 2 = 200 GB/s up; 4 pods of 2 leaves: 400 GB/s up.
  CHECK(count_of(cluster, LinkKind::fabric) == 2 * (8 + 4));
  CHECK(link_named(cluster, "leaf7.up").capacity.value() == approximately(200e9));
  CHECK(link_named(cluster, "pod3.down").capacity.value() == approximately(400e9));
  CHECK(bisection(cluster) == approximately(800e9));
  CHECK(text_of(cluster, route_of(cluster, "h0.gpu0", "h1.gpu0")) ==
        "h0.gpu0.pcie.out h0.nic0.out leaf0.up leaf1.down h1.nic0.in h1.gpu0.pcie.in");
  const Route far = route_of(cluster, "h0.gpu0", "h7.gpu0");
  CHECK(text_of(cluster, far) ==
        "h0.gpu0.pcie.out h0.nic0.out leaf0.up pod0.up pod3.down leaf7.down h7.nic0.in "
        "h7.gpu0.pcie.in");
  CHECK(far.latency.value() == approximately(2 * 0.5e-6 + 6 * 0.6e-6));
}

TEST_CASE("fat tree, hashed: Al-Fares tree of 4-port switches") {
  // k = 4: 4 pods of 2 edge and 2 aggregation switches, 4 cores, 16 hosts of one NIC; 16 + 16
  // cables between switches. Full bisection: 8 NICs. Source: Al-Fares et al., SIGCOMM '08,
  // figure 3.
  HostType type = crossbar_host();
  type.devices = type.nics = 1;
  Description d = description_of(type, 16, fabric_of(Fabric::Kind::fat_tree, 2));
  d.fabric.leaves_per_pod = 2;
  d.fabric.routing = Fabric::Routing::hashed;
  const Cluster cluster(d);
  CHECK(count_of(cluster, LinkKind::fabric) == 2 * 32);
  CHECK(bisection(cluster) == approximately(8 * 50e9));
  CHECK(link_named(cluster, "leaf7.agg1").capacity.value() == approximately(50e9));
  CHECK(link_named(cluster, "pod3.agg1.leaf7").capacity.value() == approximately(50e9));
  CHECK(link_named(cluster, "pod3.agg1.core3").capacity.value() == approximately(50e9));
  CHECK(link_named(cluster, "core3.pod3.agg1").capacity.value() == approximately(50e9));
  // Every core is met from every pod; a core is met over the same aggregation switch everywhere.
  std::set<std::string> seen;
  for (std::uint64_t flow = 0; flow < 100; ++flow) {
    const Route route = route_of(cluster, "h0.gpu0", "h15.gpu0", flow);
    CHECK(route.links.size() == 8);
    check_is_flow(cluster, device_named(cluster, "h0.gpu0"), device_named(cluster, "h15.gpu0"),
                  route);
    seen.insert(text_of(cluster, route));
  }
  CHECK(seen.size() == 4);
}

TEST_CASE("fat tree: pods without a size come out square") {
  // 9 leaves: 3 pods of 3; 10 leaves: 3 pods of 4 (the last with 2).
  for (const auto& [hosts, pods] : {std::pair{9, 3}, {10, 3}, {4, 2}, {2, 1}}) {
    CAPTURE(hosts);
    const Cluster cluster(
        description_of(crossbar_host(), hosts, fabric_of(Fabric::Kind::fat_tree, 1)));
    const std::size_t pod_pairs = pods > 1 ? static_cast<std::size_t>(pods) : 0;
    CHECK(count_of(cluster, LinkKind::fabric) == 2 * (static_cast<std::size_t>(hosts) + pod_pairs));
  }
}

}  // namespace topology
