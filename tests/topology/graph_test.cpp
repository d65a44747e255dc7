// Arbitrary graphs: shortest routes against the enumeration of all paths.
#include <functional>
#include <random>
#include <set>

#include "tests/topology/examples.h"

namespace topology {

namespace {

GraphLink cable(std::string from, std::string to, double gigabytes, double microseconds) {
  return {std::move(from), std::move(to), gigabytes_per_second(gigabytes),
          sim::microseconds(microseconds), false};
}

Description described(Graph graph) {
  Description d;
  d.graph = std::move(graph);
  return d;
}

struct Path {
  std::vector<LinkIndex> links;
  double latency = 0;
};

// All paths with the fewest links, of those all with the least latency.
std::vector<Path> best_paths(const Cluster& cluster, VertexIndex source, VertexIndex target) {
  std::vector<Path> found;
  std::set<VertexIndex> visited;
  Path path;
  const std::function<void(VertexIndex)> visit = [&](VertexIndex v) {
    if (v == target) {
      found.push_back(path);
      return;
    }
    visited.insert(v);
    for (LinkIndex l = 0; l < cluster.link_count(); ++l) {
      const LinkEnds ends = cluster.ends(l);
      if (ends.from != v || visited.contains(ends.to)) continue;
      const double latency = cluster.link(l).latency.value();
      path.links.push_back(l);
      path.latency += latency;
      visit(ends.to);
      path.links.pop_back();
      path.latency -= latency;
    }
    visited.erase(v);
  };
  visit(source);
  const auto least = [](std::vector<Path>& paths, auto&& value) {
    double best = 1e300;
    for (const Path& p : paths) best = std::min(best, value(p));
    std::erase_if(paths, [&](const Path& p) { return value(p) > best * (1 + 1e-9); });
  };
  least(found, [](const Path& p) { return static_cast<double>(p.links.size()); });
  least(found, [](const Path& p) { return p.latency; });
  return found;
}

// Equal parts at every branch: a path carries the product of 1 / (links that go on from there).
std::map<LinkIndex, double> shares_of(const Cluster& cluster, const std::vector<Path>& paths) {
  std::map<VertexIndex, std::set<LinkIndex>> onward;
  for (const Path& path : paths) {
    for (const LinkIndex link : path.links) onward[cluster.ends(link).from].insert(link);
  }
  std::map<LinkIndex, double> shares;
  for (const Path& path : paths) {
    double weight = 1;
    for (const LinkIndex link : path.links) {
      weight /= static_cast<double>(onward[cluster.ends(link).from].size());
    }
    for (const LinkIndex link : path.links) shares[link] += weight;
  }
  return shares;
}

// A few devices and switches on a ring, which connects them, with random chords, some parallel.
Graph random_graph(unsigned seed) {
  std::mt19937 random(seed);
  Graph graph;
  std::vector<std::string> names;
  for (unsigned i = 0, count = 3 + random() % 3; i < count; ++i) {
    graph.devices.push_back({"d" + std::to_string(i), "fast", ""});
    names.push_back(graph.devices.back().name);
  }
  for (unsigned i = 0, count = 1 + random() % 3; i < count; ++i) {
    graph.switches.push_back("s" + std::to_string(i));
    names.push_back(graph.switches.back());
  }
  std::shuffle(names.begin(), names.end(), random);
  const auto add = [&](std::size_t a, std::size_t b, bool one_way) {
    GraphLink link = cable(names[a], names[b], 1 + random() % 4, 0.1 * (1 + random() % 3));
    link.one_way = one_way;
    graph.links.push_back(link);
  };
  for (std::size_t i = 0; i < names.size(); ++i) add(i, (i + 1) % names.size(), seed % 3 == 0);
  for (unsigned i = 0, count = random() % 7; i < count; ++i) {
    const std::size_t a = random() % names.size();
    const std::size_t step = 1 + random() % (names.size() - 1);
    add(a, (a + step) % names.size(), random() % 3 == 0);
  }
  return graph;
}

}  // namespace

TEST_CASE("random graphs, sprayed: shares and latency of all best paths") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const Description description = described(random_graph(seed));
    REQUIRE_FALSE(has_error(description));
    const Cluster cluster(description);
    const DeviceIndex count = cluster.device_count();
    for (DeviceIndex source = 0; source < count; ++source) {
      for (DeviceIndex target = 0; target < count; ++target) {
        if (source == target) continue;
        const std::vector<Path> paths = best_paths(cluster, source, target);
        const auto expected = shares_of(cluster, paths);
        const Route route = cluster.route(source, target);
        check_is_flow(cluster, source, target, route);
        CHECK(route.latency.value() == approximately(paths.front().latency, 1e-9));
        CHECK(route.links.size() == expected.size());
        for (const auto& [link, share] : route.links) {
          REQUIRE(expected.contains(link));
          CHECK(share == approximately(expected.at(link)));
        }
      }
    }
  }
}

TEST_CASE("random graphs, hashed: one of the best paths, every one for some flow") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Graph graph = random_graph(seed);
    graph.routing = Fabric::Routing::hashed;
    const Cluster cluster(described(graph));
    const std::vector<Path> paths = best_paths(cluster, 0, 1);
    std::set<std::vector<LinkIndex>> seen;
    for (std::uint64_t flow = 0; flow < 200; ++flow) {
      const Route route = cluster.route(0, 1, flow);
      std::vector<LinkIndex> links;
      for (const auto& [link, share] : route.links) {
        CHECK(share == 1);
        links.push_back(link);
      }
      seen.insert(links);
    }
    std::set<std::vector<LinkIndex>> expected;
    for (const Path& path : paths) expected.insert(path.links);
    CHECK(seen == expected);
  }
}

TEST_CASE("graph: two spines carry half each, a slower detour nothing") {
  // a - x, then x - {p, q} - y in two links of 1 us, and x - r - y of 2 us; y - b.
  Graph graph;
  graph.devices = {{"a", "fast", "one"}, {"b", "fast", "two"}};
  graph.switches = {"x", "y", "p", "q", "r"};
  graph.links = {cable("a", "x", 50, 1), cable("y", "b", 50, 1), cable("x", "p", 10, 1),
                 cable("p", "y", 10, 1), cable("x", "q", 10, 1), cable("q", "y", 10, 1),
                 cable("x", "r", 10, 2), cable("r", "y", 10, 2)};
  const Cluster cluster(described(graph));
  const Route route = cluster.route(0, 1);
  CHECK(text_of(cluster, route) == "a->x x->p*0.500 x->q*0.500 p->y*0.500 q->y*0.500 y->b");
  CHECK(route.latency.value() == approximately(4e-6));
  CHECK(route.capacity.value() == approximately(20e9));
}

TEST_CASE("graph: links written in another order of summing are still equal") {
  // 0.1 + 0.2 + 0.3 us and 0.3 + 0.2 + 0.1 us differ in the last bit of a double.
  Graph graph;
  graph.devices = {{"a", "fast", ""}, {"b", "fast", ""}};
  graph.switches = {"p", "q", "r", "s"};
  graph.links = {cable("a", "p", 1, 0.1), cable("p", "q", 1, 0.2), cable("q", "b", 1, 0.3),
                 cable("a", "r", 1, 0.3), cable("r", "s", 1, 0.2), cable("s", "b", 1, 0.1)};
  CHECK(Cluster(described(graph)).route(0, 1).links.size() == 6);
}

TEST_CASE("graph: a torus row forwards through devices, half each way round") {
  // Four devices in a ring: the opposite one is two links away in both directions.
  Graph graph;
  for (int i = 0; i < 4; ++i) graph.devices.push_back({"d" + std::to_string(i), "fast", ""});
  for (int i = 0; i < 4; ++i) {
    graph.links.push_back(cable("d" + std::to_string(i), "d" + std::to_string((i + 1) % 4), 50, 1));
  }
  const Cluster cluster(described(graph));
  CHECK(text_of(cluster, cluster.route(0, 1)) == "d0->d1");
  CHECK(text_of(cluster, cluster.route(0, 2)) ==
        "d0->d1*0.500 d0->d3*0.500 d1->d2*0.500 d3->d2*0.500");
  CHECK(cluster.route(0, 2).capacity.value() == approximately(100e9));
}

TEST_CASE("graph: hosts, domains, parallel links, parts") {
  Graph graph;
  graph.devices = {
      {"a0", "fast", "a"}, {"b0", "fast", "b"}, {"a1", "fast", "a"}, {"c", "slow", ""}};
  graph.switches = {"core0"};
  graph.links = {cable("a0", "core0", 50, 1), cable("a0", "core0", 50, 1),
                 cable("b0", "core0", 50, 1), cable("a1", "core0", 50, 1),
                 cable("c", "core0", 50, 1)};
  const Cluster cluster(described(graph));
  REQUIRE(cluster.host_count() == 3);
  CHECK(cluster.host_name(0) == "a");
  CHECK(cluster.host_name(2) == "c");
  CHECK(cluster.host_type(0) == nullptr);
  CHECK(cluster.devices_of_host(0)[1] == 2);
  CHECK(cluster.device(2).index_in_host == 1);
  CHECK(cluster.device(2).domain != cluster.device(0).domain);
  const Route route = cluster.route(0, 2);
  CHECK(route.inside_host);
  CHECK_FALSE(route.inside_domain);
  CHECK(text_of(cluster, route) == "a0->core0*0.500 a0->core0#1*0.500 core0->a1");
  CHECK(cluster.devices_of_part("a") == std::vector<DeviceIndex>{0, 2});
  CHECK(cluster.devices_of_part("a*") == std::vector<DeviceIndex>{0, 2});
  CHECK(cluster.links_of_part("core0").size() == 10);
  CHECK(cluster.links_of_part("a1").size() == 2);
  CHECK(cluster.links_of_part("core0->a1").size() == 1);
}

}  // namespace topology
