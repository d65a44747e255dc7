// Bytes between ranks and steps in sequence, by hand and over all small layouts.
#include <algorithm>
#include <string>

#include "sim/collective/collective.h"
#include "tests/approximately.h"
#include "tests/sim/collective/layouts.h"

using namespace sim;
using namespace sim::collective;

namespace {

constexpr Operation all_operations[] = {Operation::all_reduce,     Operation::all_gather,
                                        Operation::reduce_scatter, Operation::all_to_all,
                                        Operation::broadcast,      Operation::send_receive};

void check_sum_of_halves(Algorithm algorithm, const Layout& layout) {
  const auto whole = by_pair(traffic(Operation::all_reduce, algorithm, layout, Bytes(1)));
  auto halves = by_pair(traffic(Operation::reduce_scatter, algorithm, layout, Bytes(1)));
  for (const auto& [pair, bytes] :
       by_pair(traffic(Operation::all_gather, algorithm, layout, Bytes(1)))) {
    halves[pair] += bytes;
  }
  REQUIRE(whole.size() == halves.size());
  for (const auto& [pair, bytes] : whole) CHECK(bytes == approximately(halves[pair]));
}

}  // namespace

TEST_CASE("traffic: ring all-reduce, 4 ranks, 1 GB -> 1.5 GB to the next, 6 steps") {
  // 2 (n - 1) steps of S / n: 6 x 0.25 GB.
  const Traffic t =
      traffic(Operation::all_reduce, Algorithm::ring, even_layout(1, 4), gigabytes(1));
  REQUIRE(t.hops.size() == 4);
  for (int i = 0; i < 4; ++i) {
    const Hop& hop = t.hops[static_cast<std::size_t>(i)];
    CHECK(hop.source == i);
    CHECK(hop.target == (i + 1) % 4);
    CHECK(hop.bytes.value() == approximately(1.5e9));
  }
  CHECK(t.intra_steps == 6);
  CHECK(t.inter_steps == 0);
}

TEST_CASE("traffic: ring all-reduce, 2 hosts x 8, 1 GB -> 234.375 MB per NIC") {
  // A ring of 16 sends 2 x 15/16 of 1 GB over each border; eight rings share it: 1.875 GB / 8.
  const Layout layout = even_layout(2, 8);
  const Traffic t = traffic(Operation::all_reduce, Algorithm::ring, layout, gigabytes(1));
  for (const Hop& hop : t.hops) {
    const bool crosses = (hop.source < 8) != (hop.target < 8);
    if (!crosses) continue;
    CHECK(hop.target % 8 == hop.source % 8);  // stays on its rail
    CHECK(hop.bytes.value() == approximately(234.375e6));
  }
  CHECK(bytes_leaving(t, layout, 0) == approximately(1.875e9));
  // Two passes of 15 steps, each over one border: 2 between hosts, 28 inside.
  CHECK(t.intra_steps == 28);
  CHECK(t.inter_steps == 2);
}

TEST_CASE("traffic: double tree over 4 hosts of one rank -> half of the bytes an edge and tree") {
  // First tree 0 - 2 - {1, 3}; mirrored 3 - 1 - {2, 0}. Edge 1 - 2 is in both.
  const auto t =
      by_pair(traffic(Operation::all_reduce, Algorithm::tree, even_layout(4, 1), gigabytes(1)));
  const std::map<std::pair<int, int>, double> expected = {
      {{0, 2}, 0.5e9}, {{1, 2}, 1e9}, {{2, 3}, 0.5e9}, {{1, 3}, 0.5e9}, {{0, 1}, 0.5e9}};
  REQUIRE(t.size() == 2 * expected.size());
  for (const auto& [pair, bytes] : expected) {
    CHECK(t.at(pair) == approximately(bytes));
    CHECK(t.at({pair.second, pair.first}) == approximately(bytes));
  }
}

TEST_CASE("traffic: tree all-reduce on 2 hosts x 8 loads a NIC with 1/8 of the bytes") {
  // Each host is the root of one tree: it sends S/2 down there and S/2 up in the other, over 8 NICs
  // in turn; a ring sends 2 x 15/16 S instead of S.
  const Layout layout = even_layout(2, 8);
  const Traffic t = traffic(Operation::all_reduce, Algorithm::tree, layout, gigabytes(1));
  for (const Hop& hop : t.hops) {
    if ((hop.source < 8) == (hop.target < 8)) continue;
    CHECK(hop.target % 8 == hop.source % 8);
    CHECK(hop.bytes.value() == approximately(125e6));
  }
  CHECK(t.intra_steps == 14);
  CHECK(t.inter_steps == 2);
}

TEST_CASE("traffic: hierarchical all-reduce, 4 hosts x 8, 1 GB") {
  // Inside 2 x 7/8 GB to the next; per rail a ring of 4 over 1/8 GB: 2 x 3/4 / 8 GB.
  const Traffic t =
      traffic(Operation::all_reduce, Algorithm::hierarchical, even_layout(4, 8), gigabytes(1));
  for (const Hop& hop : t.hops) {
    const bool is_inside = hop.source / 8 == hop.target / 8;
    CHECK(hop.bytes.value() == approximately(is_inside ? 1.75e9 : 187.5e6));
  }
  CHECK(t.hops.size() == 32 + 32);
  CHECK(t.intra_steps == 14);
  CHECK(t.inter_steps == 6);
}

TEST_CASE("traffic: all-to-all, 2 hosts x 2, 1 GB -> 0.25 GB to each other rank") {
  const Traffic t =
      traffic(Operation::all_to_all, Algorithm::pairwise, even_layout(2, 2), gigabytes(1));
  CHECK(t.hops.size() == 12);
  for (const Hop& hop : t.hops) CHECK(hop.bytes.value() == approximately(0.25e9));
  CHECK(t.intra_steps == 1);
  CHECK(t.inter_steps == 2);
  const Traffic at_once =
      traffic(Operation::all_to_all, Algorithm::direct, even_layout(2, 2), gigabytes(1));
  CHECK(by_pair(at_once) == by_pair(t));
  CHECK(at_once.inter_steps == 1);
  // On hosts of 3 and 1 the lonely rank meets all others across the border.
  const Traffic uneven =
      traffic(Operation::all_to_all, Algorithm::pairwise, {{0, 0, 0, 1}}, gigabytes(1));
  CHECK(uneven.intra_steps == 0);
  CHECK(uneven.inter_steps == 3);
}

TEST_CASE("traffic: broadcast and send-receive move the whole buffer once") {
  const Layout layout = even_layout(1, 3);
  const std::map<std::pair<int, int>, double> chain = {{{0, 1}, 8.0}, {{1, 2}, 8.0}};
  CHECK(by_pair(traffic(Operation::broadcast, Algorithm::ring, layout, Bytes(8))) == chain);
  CHECK(by_pair(traffic(Operation::send_receive, Algorithm::direct, layout, Bytes(8))) == chain);
  const std::map<std::pair<int, int>, double> star = {{{0, 1}, 8.0}, {{0, 2}, 8.0}};
  CHECK(by_pair(traffic(Operation::broadcast, Algorithm::direct, layout, Bytes(8))) == star);
}

TEST_CASE("traffic: uneven hosts, ring of 3 + 1 ranks: each border carries a whole ring's bytes") {
  // Three rings of 4 ranks, each 2 x 3/4 of 1/3 of 12 bytes = 6 bytes a hop; 18 over each border.
  const Layout layout{{0, 0, 0, 1}};
  const Traffic t = traffic(Operation::all_reduce, Algorithm::ring, layout, Bytes(12));
  CHECK(bytes_leaving(t, layout, 0) == approximately(18));
  CHECK(bytes_leaving(t, layout, 1) == approximately(18));
  for (int rank = 0; rank < 4; ++rank) CHECK(bytes_sent(t, rank) == approximately(18));
}

TEST_CASE("traffic: one rank moves nothing and takes no step") {
  for (const Operation operation : all_operations) {
    for (const Algorithm algorithm : algorithms(operation)) {
      const Traffic t = traffic(operation, algorithm, even_layout(1, 1), gigabytes(1));
      CHECK(t.hops.empty());
      CHECK(t.intra_steps + t.inter_steps == 0);
      const Latencies latencies{microseconds(1), microseconds(1), microseconds(1)};
      CHECK(latency(t, latencies) == Seconds(0));
    }
  }
}

TEST_CASE("traffic: hops are merged, sorted, between different ranks, and scale with the size") {
  for (const Operation operation : all_operations) {
    for (const Algorithm algorithm : algorithms(operation)) {
      for (const Layout& layout : all_layouts(6)) {
        if (!can_run(operation, algorithm, layout)) continue;
        const Traffic t = traffic(operation, algorithm, layout, Bytes(3));
        const Traffic twice = traffic(operation, algorithm, layout, Bytes(6));
        REQUIRE(t.hops.size() == twice.hops.size());
        for (std::size_t i = 0; i < t.hops.size(); ++i) {
          CHECK(t.hops[i].source != t.hops[i].target);
          CHECK(t.hops[i].bytes > Bytes(0));
          CHECK(twice.hops[i].bytes == 2 * t.hops[i].bytes);
          if (i == 0) continue;
          CHECK(std::pair(t.hops[i - 1].source, t.hops[i - 1].target) <
                std::pair(t.hops[i].source, t.hops[i].target));
        }
      }
    }
  }
}

TEST_CASE("traffic: every rank sends and receives what the lower bound says, all n <= 16") {
  // All-reduce 2 (n-1)/n S, all-gather and reduce-scatter (n-1)/n S, in any layout for rings.
  for (const Layout& layout : even_layouts(16)) {
    const double n = layout.ranks();
    if (n == 1) continue;
    const Traffic reduce = traffic(Operation::all_reduce, Algorithm::ring, layout, Bytes(1));
    const Traffic gather = traffic(Operation::all_gather, Algorithm::ring, layout, Bytes(1));
    const Traffic tree = traffic(Operation::all_reduce, Algorithm::tree, layout, Bytes(1));
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      CHECK(bytes_sent(reduce, rank) == approximately(2 * (n - 1) / n));
      CHECK(bytes_received(reduce, rank) == approximately(2 * (n - 1) / n));
      CHECK(bytes_sent(gather, rank) == approximately((n - 1) / n));
      CHECK(bytes_received(gather, rank) == approximately((n - 1) / n));
      CHECK(bytes_sent(tree, rank) == approximately(bytes_received(tree, rank)));
    }
  }
}

TEST_CASE("traffic: all-reduce = reduce-scatter + all-gather, hop by hop") {
  for (const Layout& layout : even_layouts(16)) {
    for (const Algorithm algorithm :
         {Algorithm::ring, Algorithm::hierarchical, Algorithm::direct}) {
      check_sum_of_halves(algorithm, layout);
    }
  }
}

TEST_CASE("traffic: members share the border evenly and keep to their rail") {
  for (const Layout& layout : even_layouts(24)) {
    const int hosts = layout.host_of.back() + 1, members = layout.ranks() / hosts;
    if (hosts == 1) continue;
    const Traffic t = traffic(Operation::all_reduce, Algorithm::ring, layout, Bytes(1));
    const double n = layout.ranks();
    const bool has_such_rings = members != 2 || hosts % 2 == 0;
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      double leaving = 0;
      for (const Hop& hop : t.hops) {
        if (hop.source != rank || hop.target / members == rank / members) continue;
        CHECK(hop.target / members == (rank / members + 1) % hosts);
        if (has_such_rings) CHECK(hop.target % members == rank % members);
        leaving += hop.bytes.value();
      }
      CHECK(leaving == approximately(2 * (n - 1) / n / members));
    }
  }
}

TEST_CASE("traffic: some hosts of a ring, by their numbers -> the hops of the whole ring there") {
  // Hosts of 3, 1, 2, 3, ... members; two, then one, and the last one are not listed.
  for (int hosts = 6; hosts <= 11; ++hosts) {
    Layout whole;
    for (int host = 0; host < hosts; ++host) {
      whole.host_of.insert(whole.host_of.end(), static_cast<std::size_t>(3 - host * 5 % 3), host);
    }
    Layout some;
    std::vector<int> rank_of;  // [listed] in the whole ring
    for (int rank = 0; rank < whole.ranks(); ++rank) {
      const int host = whole.host_of[static_cast<std::size_t>(rank)];
      if (host == 1 || host == 2 || host == 4 || host == hosts - 1) continue;
      if (some.host_of.empty() || some.host_of.back() != host) some.host_numbers.push_back(host);
      some.host_of.push_back(host);
      rank_of.push_back(rank);
    }
    some.ranks_left_out = whole.ranks() - static_cast<int>(rank_of.size());
    some.hosts_left_out = 4;
    for (const Operation operation : {Operation::all_reduce, Operation::all_gather}) {
      const Traffic all = traffic(operation, Algorithm::ring, whole, Bytes(1));
      const Traffic listed = traffic(operation, Algorithm::ring, some, Bytes(1));
      std::map<std::pair<int, int>, double> expected, found;
      for (const auto& [pair, bytes] : by_pair(all)) {
        const auto is_listed = [&](int rank) {
          return std::find(rank_of.begin(), rank_of.end(), rank) != rank_of.end();
        };
        if (is_listed(pair.first) && is_listed(pair.second)) expected[pair] = bytes;
      }
      for (const auto& [pair, bytes] : by_pair(listed)) {
        found[{rank_of[static_cast<std::size_t>(pair.first)],
               rank_of[static_cast<std::size_t>(pair.second)]}] = bytes;
      }
      CHECK(found == expected);
      CHECK(listed.intra_steps == all.intra_steps);
      CHECK(listed.inter_steps == all.inter_steps);
    }
  }
}

TEST_CASE("traffic: relabelling hosts changes nothing, nor does dealing ranks to hosts in turn") {
  for (const Operation operation : all_operations) {
    for (const Algorithm algorithm : algorithms(operation)) {
      const Layout layout = even_layout(3, 4);
      if (!can_run(operation, algorithm, layout)) continue;
      Layout relabelled = layout, dealt = layout;
      for (int rank = 0; rank < 12; ++rank) {
        relabelled.host_of[static_cast<std::size_t>(rank)] = 70 - 7 * (rank / 4);
        dealt.host_of[static_cast<std::size_t>(rank)] = rank % 3;
      }
      const Traffic t = traffic(operation, algorithm, layout, Bytes(1));
      CHECK(by_pair(traffic(operation, algorithm, relabelled, Bytes(1))) == by_pair(t));
      if (operation == Operation::send_receive) continue;  // goes by group rank
      const Traffic u = traffic(operation, algorithm, dealt, Bytes(1));
      for (int host = 0; host < 3; ++host) {
        const double leaving = bytes_leaving(t, layout, host);
        CHECK(bytes_leaving(u, dealt, host) - leaving <= 1e-12 * leaving);
        CHECK(leaving - bytes_leaving(u, dealt, host) <= 1e-12 * leaving);
      }
      CHECK(u.intra_steps == t.intra_steps);
      CHECK(u.inter_steps == t.inter_steps);
    }
  }
}

TEST_CASE("latency: ring all-reduce of 2 hosts x 8 -> 10 + 28 x 1 + 2 x 6 = 50 us") {
  const Traffic t = traffic(Operation::all_reduce, Algorithm::ring, even_layout(2, 8), Bytes(1));
  const Latencies latencies{microseconds(10), microseconds(1), microseconds(6)};
  CHECK(latency(t, latencies).value() == approximately(microseconds(50)));
}

TEST_CASE("names: the words of scenarios and of NCCL") {
  CHECK(std::string(name(Operation::reduce_scatter)) == "reduce-scatter");
  CHECK(std::string(name(Algorithm::hierarchical)) == "hierarchical");
  CHECK(std::string(name(Protocol::ll128)) == "LL128");
  // 120 of 128 bytes are data: 1.0667 bytes on the wire for one.
  CHECK(protocol_overhead(Protocol::ll128) == approximately(16.0 / 15));
  CHECK(protocol_overhead(Protocol::ll) == approximately(2.0));
  CHECK(protocol_overhead(Protocol::simple) == approximately(1.0));
}
