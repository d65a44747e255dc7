// The event heap against a sorted set, and the fingerprint's promises.
#include "sim/engine/indexed_heap.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "sim/engine/fingerprint.h"

using namespace sim;

TEST_CASE("indexed heap: random adds, moves and removals -> always the earliest of a sorted set") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const int indices = 1 + static_cast<int>(random() % 40);
    engine::IndexedHeap heap(static_cast<std::size_t>(indices));
    std::vector<Picoseconds> at(static_cast<std::size_t>(indices), -1);
    for (int round = 0; round < 300; ++round) {
      const auto index = static_cast<std::int32_t>(random() % static_cast<unsigned>(indices));
      if (random() % 3 == 0) {
        heap.remove(index);
        at[static_cast<std::size_t>(index)] = -1;
      } else {
        at[static_cast<std::size_t>(index)] = static_cast<Picoseconds>(random() % 20);
        heap.set(index, at[static_cast<std::size_t>(index)]);
      }
      std::set<std::pair<Picoseconds, std::int32_t>> sorted;
      for (int i = 0; i < indices; ++i) {
        if (at[static_cast<std::size_t>(i)] >= 0)
          sorted.insert({at[static_cast<std::size_t>(i)], i});
        REQUIRE(heap.contains(i) == (at[static_cast<std::size_t>(i)] >= 0));
      }
      REQUIRE(heap.size() == sorted.size());
      if (sorted.empty()) continue;
      REQUIRE(heap.earliest() == sorted.begin()->first);
      REQUIRE(heap.top() == sorted.begin()->second);
    }
  }
}

TEST_CASE("fingerprint: any order of the same events -> the same; another instant -> another") {
  engine::Fingerprint a, b, c;
  a.add(1, 2, 30);
  a.add(4, 5, 60);
  b.add(4, 5, 60);
  b.add(1, 2, 30);
  c.add(1, 2, 30);
  c.add(4, 5, 61);
  CHECK(a.value() == b.value());
  CHECK(a.value() != c.value());
  CHECK(a.events() == 2);
}
