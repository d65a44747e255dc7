// Torus and dragonfly: cables and bisection counted by hand, routes against shortest paths.
#include <limits>
#include <queue>
#include <set>

#include "tests/topology/examples.h"
#include "topology/findings.h"

namespace topology {

namespace {

// Hosts of one device and one NIC of 50 GB/s.
HostType thin_host() {
  HostType type = crossbar_host();
  type.devices = type.nics = 1;
  type.scale_up = {};
  type.sockets = 1;
  return type;
}

Description torus(std::vector<int> dimensions, Fabric::Routing routing = Fabric::Routing::sprayed) {
  Fabric fabric = fabric_of(Fabric::Kind::torus, 1);
  int hosts = 1;
  for (const int n : dimensions) hosts *= n;
  fabric.dimensions = std::move(dimensions);
  fabric.routing = routing;
  return description_of(thin_host(), hosts, fabric);
}

Description dragonfly(int groups, int routers, int cables, int hosts) {
  Fabric fabric = fabric_of(Fabric::Kind::dragonfly, hosts);
  fabric.groups = groups;
  fabric.routers_per_group = routers;
  fabric.global_links = cables;
  return description_of(thin_host(), groups * routers * hosts, fabric);
}

// Links between routers on the way, as the sum of shares: hops of one path.
double hops(const Cluster& cluster, const Route& route) {
  double sum = 0;
  for (const LinkShare& share : route.links) {
    if (cluster.link(share.link).kind == LinkKind::fabric) sum += share.share;
  }
  return sum;
}

// Every route against a search of shortest paths over all links; and shares that leave a vertex
// are those that enter it.
void check_routes(const Cluster& cluster, bool are_shortest) {
  std::vector<std::vector<VertexIndex>> next(static_cast<std::size_t>(cluster.vertex_count()));
  for (LinkIndex l = 0; l < cluster.link_count(); ++l) {
    const LinkEnds ends = cluster.ends(l);
    next[static_cast<std::size_t>(ends.from)].push_back(ends.to);
  }
  for (DeviceIndex source = 0; source < cluster.device_count(); ++source) {
    std::vector<int> distance(next.size(), -1);
    std::queue<VertexIndex> queue({source});
    distance[static_cast<std::size_t>(source)] = 0;
    while (!queue.empty()) {
      const VertexIndex v = queue.front();
      queue.pop();
      for (const VertexIndex to : next[static_cast<std::size_t>(v)]) {
        int& known = distance[static_cast<std::size_t>(to)];
        if (known >= 0) continue;
        known = distance[static_cast<std::size_t>(v)] + 1;
        queue.push(to);
      }
    }
    for (DeviceIndex target = 0; target < cluster.device_count(); ++target) {
      if (target == source) continue;
      const Route route = cluster.route(source, target, 7);
      double links = 0;
      std::map<VertexIndex, double> balance;
      for (const LinkShare& share : route.links) {
        links += share.share;
        balance[cluster.ends(share.link).from] -= share.share;
        balance[cluster.ends(share.link).to] += share.share;
      }
      if (are_shortest) {
        CHECK(links == approximately(distance[static_cast<std::size_t>(target)]));
      }
      for (const auto& [vertex, sum] : balance) {
        CHECK(sum == (vertex == source ? -1.0 : vertex == target ? 1.0 : 0.0));
      }
    }
  }
}

std::string first_error(const Description& description) {
  for (const Finding& finding : Cluster::findings(description)) {
    if (finding.is_error) return finding.message;
  }
  return "";
}

// One-way capacity from the first half of the routers to the second, over cables alone.
double cut(const Cluster& cluster, VertexIndex routers) {
  const VertexIndex first = cluster.vertex_count() - routers;
  double sum = 0;
  for (LinkIndex l = 0; l < cluster.link_count(); ++l) {
    const LinkEnds ends = cluster.ends(l);
    if (ends.from < first || ends.to < first) continue;
    const bool is_from_low = ends.from - first < routers / 2;
    if (is_from_low && ends.to - first >= routers / 2) sum += cluster.link(l).capacity.value();
  }
  return sum;
}

}  // namespace

TEST_CASE("torus 4 x 6: 48 cables, bisection 2 x 4 cables of 50 GB/s, names, routes") {
  const Cluster cluster(torus({4, 6}));
  int cables = 0;
  for (LinkIndex l = 0; l < cluster.link_count(); ++l) {
    cables += cluster.link(l).kind == LinkKind::fabric;
  }
  CHECK(cables == 2 * 48);
  // Halves of 3 rows: of each of 4 columns one cable in the middle and one round the end.
  CHECK(cut(cluster, 24) == approximately(8 * 50e9));
  check_routes(cluster, true);
  CHECK(link_named(cluster, "router7.y-").capacity == gigabits_per_second(400));
  // (3, 1) is router 7; forwards along x it goes round to (0, 1).
  const auto round = cluster.links_of_part("router7.x+");
  REQUIRE(round.size() == 1);
  CHECK(cluster.vertex_name(cluster.ends(round[0]).to) == "router4");
  // Four cables, each both ways, and the NIC's port.
  CHECK(cluster.links_of_part("router7").size() == 8 + 2);
  CHECK(cluster.links_of_part("router7.port0").size() == 2);
}

TEST_CASE("torus 4 x 6: (0,0) to (2,3) goes both ways round in both dimensions: 5 hops, 10 links") {
  const Cluster cluster(torus({4, 6}));
  const Route route = cluster.route(0, 14, 0);
  CHECK(hops(cluster, route) == approximately(5.0));
  // NIC, PCIe on both sides: 0.6 + 0.5 us each; 5 hops of 0.6 us.
  CHECK(route.latency.value() == approximately(2 * 1.1e-6 + 3e-6));
  int halves = 0;
  for (const LinkShare& share : route.links) halves += share.share == 0.5;
  CHECK(halves == 10);
}

TEST_CASE("torus: by a hash one way round, the same for the same flow") {
  const Cluster cluster(torus({4, 4}, Fabric::Routing::hashed));
  std::set<LinkIndex> seen;
  for (std::uint64_t flow = 0; flow < 64; ++flow) {
    const Route route = cluster.route(0, 2, flow);
    CHECK(hops(cluster, route) == approximately(2.0));
    for (const LinkShare& share : route.links) {
      CHECK(share.share == 1);
      seen.insert(share.link);
    }
  }
  CHECK(seen.size() == 4 + 4);  // both ways, and NIC and PCIe of both hosts
  check_routes(cluster, true);
}

TEST_CASE("torus 2 x 3 x 4: every route is shortest; two routers along x are joined twice") {
  const Cluster cluster(torus({2, 3, 4}));
  check_routes(cluster, true);
  // 24 routers x 3 cables. Halves of 2 planes of 6: two cables each.
  CHECK(cut(cluster, 24) == approximately(12 * 50e9));
}

TEST_CASE("dragonfly 5 x 2, 2 cables a router: 5 + 10 cables, at most 3 hops") {
  const Cluster cluster(dragonfly(5, 2, 2, 3));
  CHECK(cluster.device_count() == 30);
  int cables = 0;
  std::map<VertexIndex, int> global;
  for (LinkIndex l = 0; l < cluster.link_count(); ++l) {
    if (cluster.link(l).kind != LinkKind::fabric) continue;
    ++cables;
    const LinkEnds ends = cluster.ends(l);
    const VertexIndex first = cluster.vertex_count() - 10;
    if ((ends.from - first) / 2 != (ends.to - first) / 2) ++global[ends.from];
  }
  CHECK(cables == 2 * (5 + 10));
  REQUIRE(global.size() == 10);
  for (const auto& [router, count] : global) CHECK(count == 2);
  check_routes(cluster, false);
  for (DeviceIndex target = 1; target < 30; ++target) {
    CHECK(hops(cluster, cluster.route(0, target, 0)) <= 3);
  }
  CHECK(cluster.links_of_part("router0").size() == 2 * 3 + 2 * (1 + 2));
}

TEST_CASE("dragonfly 4 x 3, 1 cable a router: minimal routes, not always shortest ones") {
  // A way over a third group has at least two cables between groups; ours has one.
  const Cluster cluster(dragonfly(4, 3, 1, 1));
  check_routes(cluster, false);
  for (DeviceIndex source = 0; source < 12; ++source) {
    for (DeviceIndex target = 0; target < 12; ++target) {
      if (source == target) continue;
      CHECK(hops(cluster, cluster.route(source, target, 0)) <= 3);
    }
  }
}

TEST_CASE("torus and dragonfly: what cannot be built, with its arithmetic") {
  Description wrong = torus({4, 4});
  wrong.hosts[0].count = 15;
  CHECK(first_error(wrong) == "16 routers x hosts_per_group 1 = 16 hosts, but the cluster has 15");
  CHECK(first_error(torus({4})) == "a torus of 1 dimensions");
  CHECK(first_error(dragonfly(8, 3, 2, 1)) == "8 groups, but a group has cables to 6 others");
}

TEST_CASE("torus and dragonfly: no blocks of hosts look alike, no capacity below is known") {
  for (const Description& description : {torus({4, 4}), dragonfly(3, 2, 1, 1)}) {
    const Cluster cluster(description);
    CHECK_FALSE(cluster.blocks());
    for (LinkIndex l = 0; l < cluster.link_count(); ++l) {
      CHECK(cluster.capacity_below(l).value() == std::numeric_limits<double>::infinity());
    }
  }
}

}  // namespace topology
