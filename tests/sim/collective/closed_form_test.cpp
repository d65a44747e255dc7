// The closed forms' worked numbers, and traffic() on a uniform network against them.
#include "sim/collective/closed_form.h"

#include <algorithm>

#include "sim/collective/trees.h"
#include "tests/approximately.h"
#include "tests/sim/collective/layouts.h"

using namespace sim;
using namespace sim::collective;

namespace {

constexpr BytesPerSecond capacity = gigabytes_per_second(50);
constexpr Seconds hop_latency = microseconds(5);

// Every rank sends at `capacity`; all steps at `hop_latency`.
Seconds time_on_uniform_network(const Traffic& traffic, int ranks) {
  Seconds longest;
  for (int rank = 0; rank < ranks; ++rank) {
    longest = std::max(longest, Bytes(bytes_sent(traffic, rank)) / capacity);
  }
  return longest + latency(traffic, {Seconds(0), hop_latency, hop_latency});
}

}  // namespace

TEST_CASE("closed form: ring all-reduce, 4 ranks, 1 GB, 50 GB/s, 5 us -> 30.03 ms") {
  // 2 x 3 steps of (5 us + 0.25 GB / 50 GB/s) = 6 x 5.005 ms.
  const Seconds t = ring_all_reduce_time(4, gigabytes(1), capacity, hop_latency);
  CHECK(t.value() == approximately(milliseconds(30.03)));
  // nccl-tests' bus bandwidth, S/t x 2(n-1)/n: just under the link's 50 GB/s.
  CHECK((gigabytes(1) / t * 1.5).value() == approximately(gigabytes_per_second(49.95), 1e-5));
  CHECK(ring_all_reduce_time(1, gigabytes(1), capacity, hop_latency) == Seconds(0));
}

TEST_CASE("closed form: ring all-gather, 4 ranks, 1 GB, 50 GB/s, 5 us -> 15.015 ms") {
  CHECK(ring_all_gather_time(4, gigabytes(1), capacity, hop_latency).value() ==
        approximately(milliseconds(15.015)));
}

TEST_CASE("closed form: double tree, 4 ranks, 1 GB, 50 GB/s, 5 us -> at most 40.02 ms") {
  CHECK(tree_all_reduce_time_max(4, gigabytes(1), capacity, hop_latency).value() ==
        approximately(milliseconds(40.02)));
}

TEST_CASE("closed form: hierarchical, 2 hosts x 4, 1 GB -> 25.016 ms") {
  // 6 (1 us + 0.25 GB / 100 GB/s) + 2 (5 us + 0.125 GB / 25 GB/s) = 15.006 + 10.01 ms.
  const Tier inside{4, gigabytes_per_second(100), microseconds(1)};
  const Tier between{2, gigabytes_per_second(25), microseconds(5)};
  CHECK(hierarchical_all_reduce_time(inside, between, gigabytes(1)).value() ==
        approximately(milliseconds(25.016)));
}

TEST_CASE("closed form: rings on a uniform network take what it says, 2 <= n <= 16") {
  for (int n = 2; n <= 16; ++n) {
    const Layout layout = even_layout(1, n);
    const Traffic reduce = traffic(Operation::all_reduce, Algorithm::ring, layout, gigabytes(1));
    CHECK(time_on_uniform_network(reduce, n).value() ==
          approximately(ring_all_reduce_time(n, gigabytes(1), capacity, hop_latency)));
    const Traffic gather = traffic(Operation::all_gather, Algorithm::ring, layout, gigabytes(1));
    CHECK(time_on_uniform_network(gather, n).value() ==
          approximately(ring_all_gather_time(n, gigabytes(1), capacity, hop_latency)));
  }
}

TEST_CASE("closed form: trees over hosts of one rank take at most what it says, n <= 64") {
  for (int n = 1; n <= 64; ++n) {
    const Traffic t =
        traffic(Operation::all_reduce, Algorithm::tree, even_layout(n, 1), gigabytes(1));
    const Seconds most = tree_all_reduce_time_max(n, gigabytes(1), capacity, hop_latency);
    CHECK(time_on_uniform_network(t, n).value() <= most.value() * (1 + 1e-12));
    // From four hosts on some host is an inner node with two children.
    if (n >= 4) CHECK(time_on_uniform_network(t, n).value() == approximately(most));
  }
}

TEST_CASE("closed form: hierarchical traffic takes what it says on two tiers") {
  for (const Layout& layout : even_layouts(24)) {
    if (layout.ranks() == 1) continue;
    const int hosts = layout.host_of.back() + 1, members = layout.ranks() / hosts;
    const Tier inside{members, gigabytes_per_second(100), microseconds(1)};
    const Tier between{hosts, gigabytes_per_second(25), microseconds(5)};
    const Traffic t = traffic(Operation::all_reduce, Algorithm::hierarchical, layout, gigabytes(1));
    // All ranks do the same: rank 0's bytes inside, then between.
    double leaving = 0;
    for (const Hop& hop : t.hops) {
      if (hop.source == 0 && hop.target / members != 0) leaving += hop.bytes.value();
    }
    const Seconds time = Bytes(bytes_sent(t, 0) - leaving) / inside.capacity +
                         Bytes(leaving) / between.capacity +
                         latency(t, {Seconds(0), inside.latency, between.latency});
    CHECK(time.value() ==
          approximately(hierarchical_all_reduce_time(inside, between, gigabytes(1))));
  }
}

TEST_CASE("trees: NCCL's own drawing for 14 nodes") {
  // 0 - 8 - {4 - {2 - {1, 3}, 6 - {5, 7}}, 12 - {10 - {9, 11}, 13}}, and its mirror image.
  const int parents[] = {-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12};
  for (int node = 0; node < 14; ++node) {
    CAPTURE(node);
    CHECK(binary_tree_parent(node, 14).value_or(-1) == parents[node]);
    const int mirrored = parents[13 - node];
    CHECK(second_tree_parent(node, 14).value_or(-1) == (mirrored < 0 ? -1 : 13 - mirrored));
  }
}

TEST_CASE("trees: an odd number of nodes shifts the second tree by one") {
  // 5 nodes: 0 - 4 - 2 - {1, 3}; shifted: 1 - 0 - 3 - {2, 4}.
  const int first[] = {-1, 2, 4, 2, 0}, second[] = {1, -1, 3, 0, 3};
  for (int node = 0; node < 5; ++node) {
    CHECK(binary_tree_parent(node, 5).value_or(-1) == first[node]);
    CHECK(second_tree_parent(node, 5).value_or(-1) == second[node]);
  }
}

TEST_CASE("trees: no more than ceil(log2 n) deep, at most one root and two children") {
  int power = 1, log2 = 0;
  for (int n = 1; n <= 200; ++n) {
    while (power < n) power *= 2, ++log2;
    CAPTURE(n);
    CHECK(tree_depth(n) == log2);
    for (const auto parent_of : {binary_tree_parent, second_tree_parent}) {
      std::vector<int> children(static_cast<std::size_t>(n), 0);
      int roots = 0;
      for (int node = 0; node < n; ++node) {
        const auto parent = parent_of(node, n);
        if (parent) {
          ++children[static_cast<std::size_t>(*parent)];
        } else {
          ++roots;
        }
      }
      CHECK(roots == 1);
      CHECK(*std::max_element(children.begin(), children.end()) <= 2);
    }
  }
}
