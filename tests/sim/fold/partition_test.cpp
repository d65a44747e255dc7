// Partition refinement on graphs small enough to see the classes.
#include "sim/fold/partition.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

using namespace sim::fold;

namespace {

// Splits all classes by everything their members see, until nothing changes.
std::vector<Class> naive(const SightGraph& graph) {
  using Seen = std::map<std::tuple<std::uint32_t, Class, Class>, std::int64_t>;
  std::vector<Class> class_of(graph.colour.begin(), graph.colour.end());
  for (;;) {
    std::map<std::tuple<Class, char, Seen>, Class> number;
    std::vector<Class> next;
    for (std::size_t v = 0; v < class_of.size(); ++v) {
      Seen seen;
      for (const Sight& s : graph.sights_of(static_cast<Vertex>(v))) {
        auto& count = seen[{s.label, class_of[static_cast<std::size_t>(s.vertex)],
                            s.also < 0 ? -1 : class_of[static_cast<std::size_t>(s.also)]}];
        count = graph.counts[v] ? count + s.count : 1;
      }
      next.push_back(
          number
              .try_emplace({class_of[v], graph.counts[v], seen}, static_cast<Class>(number.size()))
              .first->second);
    }
    if (std::set<Class>(next.begin(), next.end()).size() ==
            std::set<Class>(class_of.begin(), class_of.end()).size() &&
        next == class_of) {
      return next;
    }
    class_of = next;
  }
}

SightGraph path_of_five(bool counts) {
  SightGraph graph;
  for (Vertex v = 0; v < 5; ++v) {
    graph.add_vertex(0, counts);
    if (v > 0) graph.add_sight({v - 1});
    if (v < 4) graph.add_sight({v + 1});
  }
  return graph;
}

}  // namespace

TEST_CASE("refine: a path of five -> ends, their neighbours, and the middle") {
  const SightGraph graph = path_of_five(true);
  CHECK(refine(graph).class_of == std::vector<Class>{0, 1, 2, 1, 0});
  CHECK(refine(graph).lowest == std::vector<Vertex>{0, 1, 2});
}

TEST_CASE("refine: the same path seen as sets -> all alike but for nothing") {
  // Everyone sees a neighbour of the only class.
  const SightGraph graph = path_of_five(false);
  CHECK(refine(graph).class_of == std::vector<Class>{0, 0, 0, 0, 0});
}

TEST_CASE("refine: counts of one edge and of several edges are the same") {
  SightGraph graph;
  graph.add_vertex(0, true);
  graph.add_vertex(1, true);
  graph.add_sight({0, -1, 5, 2});
  graph.add_vertex(1, true);
  graph.add_sight({0, -1, 5, 1});
  graph.add_sight({0, -1, 5, 1});
  graph.add_vertex(1, true);
  graph.add_sight({0, -1, 6, 2});
  CHECK(refine(graph).class_of == std::vector<Class>{0, 1, 1, 2});
}

TEST_CASE("refine: 2,000 random graphs -> the classes of splitting everything by everything") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<std::int32_t>(random() % n); };
    const std::uint64_t size = 1 + random() % 14;
    SightGraph graph;
    for (std::uint64_t v = 0; v < size; ++v) {
      graph.add_vertex(static_cast<std::uint32_t>(below(2)), below(2) == 0);
      for (int e = below(4); e > 0; --e) {
        graph.add_sight({below(size), below(3) == 0 ? below(size) : -1,
                         static_cast<std::uint32_t>(below(2)), 1 + below(2)});
      }
    }
    const std::vector<Class> expected = naive(graph), found = refine(graph).class_of;
    std::set<std::pair<Class, Class>> pairs;
    for (std::size_t v = 0; v < size; ++v) pairs.emplace(expected[v], found[v]);
    // One to one.
    std::set<Class> left, right;
    for (const auto& [a, b] : pairs) {
      left.insert(a);
      right.insert(b);
    }
    REQUIRE(pairs.size() == left.size());
    REQUIRE(pairs.size() == right.size());
    for (const int bits : {0, 2}) REQUIRE(refine(graph, bits).class_of == found);
  }
}
