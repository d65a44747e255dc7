// Switches that reduce, parallel aggregated trees and rails: bytes by hand, obstacles, choices.
#include <string>

#include "sim/collective/closed_form.h"
#include "sim/collective/tuner.h"
#include "tests/approximately.h"
#include "tests/sim/collective/layouts.h"

using namespace sim;
using namespace sim::collective;

namespace {

// HGX H100: NVLink 4 with NVLink SHARP, eight NICs of 400 Gbit/s.
Hardware hgx_h100(bool inside_domain) {
  Hardware hardware;
  hardware.intra = gigabytes_per_second(450);
  hardware.inter = gigabytes_per_second(8 * 50.0);
  hardware.has_nvls = true;
  hardware.inside_domain = inside_domain;
  return hardware;
}

std::string chosen(Operation operation, const Layout& layout, const Hardware& hardware, Bytes size,
                   const Forced& forced = {}) {
  const Choice choice = choose(operation, layout, hardware, size, forced);
  return std::string(name(choice.algorithm)) + " " + name(choice.protocol);
}

std::string why(Operation operation, Algorithm algorithm, const Layout& layout,
                const Hardware& hardware) {
  const auto found = obstacle(operation, algorithm, layout, hardware);
  return found ? found->why : "";
}

}  // namespace

TEST_CASE("switched: nvls all-reduce of 1 GB over 8 ranks -> 1.125 GB a port, 2 steps") {
  // Every rank's 1 GB goes up, summed quarters of the others come down: S + S/8 each way.
  const Traffic t =
      traffic(Operation::all_reduce, Algorithm::nvls, even_layout(1, 8), gigabytes(1));
  for (int rank = 0; rank < 8; ++rank) {
    CHECK(bytes_sent(t, rank) == approximately(1.125e9));
    CHECK(bytes_received(t, rank) == approximately(1.125e9));
  }
  CHECK(t.intra_steps == 2);
  CHECK(t.inter_steps == 0);
  // A gather brings everyone the whole buffer.
  const Traffic gather =
      traffic(Operation::all_gather, Algorithm::nvls, even_layout(1, 8), gigabytes(1));
  CHECK(bytes_received(gather, 3) == approximately(1e9));
  CHECK(gather.intra_steps == 1);
}

TEST_CASE("switched: nvls-tree, 2 hosts x 8, 1 GB -> 125 MB a NIC; 4 hosts -> at most 250 MB") {
  // Two hosts: each is the root of one tree of half of the bytes, so it sends 1/2 down and 1/2 up,
  // cut over 8 NICs. Four hosts, first tree 0 - 2 - {1, 3}, second mirrored: host 1 sends up in
  // the first and, inner in the second (3 - 1 - {2, 0}), up once and down twice: 4/2 of 1/8 GB.
  const Layout two = even_layout(2, 8);
  const Traffic t = traffic(Operation::all_reduce, Algorithm::nvls_tree, two, gigabytes(1));
  CHECK(bytes_leaving(t, two, 0) == approximately(1e9));
  CHECK(bytes_leaving(t, two, 1) == approximately(1e9));
  // The port passes 1 + 1/8 GB on top of what goes to the NIC by another way.
  CHECK(bytes_sent(t, 0) == approximately(1.125e9 + 0.125e9));
  CHECK(t.intra_steps == 2);
  CHECK(t.inter_steps == 2);
  const Layout four = even_layout(4, 8);
  const Traffic u = traffic(Operation::all_reduce, Algorithm::nvls_tree, four, gigabytes(1));
  CHECK(bytes_leaving(u, four, 0) == approximately(1e9));
  CHECK(bytes_leaving(u, four, 1) == approximately(2e9));
  CHECK(bytes_leaving(u, four, 2) == approximately(2e9));
  CHECK(bytes_leaving(u, four, 3) == approximately(1e9));
  CHECK(u.inter_steps == 4);
}

TEST_CASE("switched: collnet, 4 hosts x 8, 1 GB -> 125 MB a NIC whatever the hosts, 1 step") {
  for (const int hosts : {2, 4, 9}) {
    const Layout layout = even_layout(hosts, 8);
    const Traffic t = traffic(Operation::all_reduce, Algorithm::collnet, layout, gigabytes(1));
    for (int host = 0; host < hosts; ++host) {
      CHECK(bytes_leaving(t, layout, host) == approximately(1e9));
    }
    // 2 x 7/8 GB inside beside it.
    CHECK(bytes_sent(t, 0) == approximately(1.75e9 + 0.125e9));
    CHECK(t.inter_steps == 1);
  }
}

TEST_CASE("switched: pat over 6 hosts, 6 GB -> 1, 1 and 3 GB to ranks 4, 2 and 1 ahead, 3 steps") {
  const Traffic t = traffic(Operation::all_gather, Algorithm::pat, even_layout(6, 1), gigabytes(6));
  const auto pairs = by_pair(t);
  CHECK(pairs.size() == 18);
  CHECK(pairs.at({0, 4}) == approximately(1e9));
  CHECK(pairs.at({0, 2}) == approximately(1e9));
  CHECK(pairs.at({0, 1}) == approximately(3e9));
  CHECK(t.inter_steps == 3);
  // A reduce-scatter is the reverse.
  const auto back =
      by_pair(traffic(Operation::reduce_scatter, Algorithm::pat, even_layout(6, 1), gigabytes(6)));
  for (const auto& [pair, bytes] : pairs) CHECK(back.at({pair.second, pair.first}) == bytes);
}

TEST_CASE("switched: pxn, 4 hosts x 8, 32 GB a rank -> rails only, one message a pair of hosts") {
  // 1 GB for each of 32 ranks. Inside: to a peer 1 GB for itself and 1 GB to pass on to each of 3
  // other hosts; to a host: 8 members' GB for that rail.
  const Layout layout = even_layout(4, 8);
  const Traffic t = traffic(Operation::all_to_all, Algorithm::pxn, layout, gigabytes(32));
  for (const Hop& hop : t.hops) {
    const bool is_inside = hop.source / 8 == hop.target / 8;
    if (!is_inside) CHECK(hop.source % 8 == hop.target % 8);
    CHECK(hop.bytes.value() == approximately(is_inside ? 4e9 : 8e9));
  }
  CHECK(t.hops.size() == 4 * 8 * 7 + 8 * 4 * 3);
  // As many bytes leave as without: 24 of 32 GB of each of 8 ranks.
  CHECK(bytes_leaving(t, layout, 2) == approximately(8 * 24e9));
  CHECK(t.intra_steps == 7);
  CHECK(t.inter_steps == 3);
}

TEST_CASE("obstacles: each names what is missing") {
  const Layout one = even_layout(1, 8), two = even_layout(2, 8), thin = even_layout(4, 1);
  const Layout uneven{{0, 0, 0, 1}};
  const Hardware plain = [] {
    Hardware hardware = hgx_h100(false);
    hardware.has_nvls = false;
    return hardware;
  }();
  const auto all_reduce = Operation::all_reduce;
  CHECK(why(all_reduce, Algorithm::nvls, one, hgx_h100(true)).empty());
  CHECK(why(all_reduce, Algorithm::nvls, one, plain) ==
        "nvls needs a scale-up switch that reduces (NVLink SHARP)");
  CHECK(why(all_reduce, Algorithm::nvls, two, hgx_h100(false)) ==
        "nvls stays inside one scale-up domain; here are 16 devices on 2 hosts");
  CHECK(why(all_reduce, Algorithm::nvls_tree, two, hgx_h100(false)).empty());
  CHECK(why(all_reduce, Algorithm::nvls_tree, one, hgx_h100(true)) ==
        "nvls-tree joins several hosts; here is one scale-up domain");
  CHECK(why(all_reduce, Algorithm::nvls_tree, thin, hgx_h100(false)) ==
        "nvls-tree needs equally many devices of each host, at least two; here are 4 devices on 4 "
        "hosts");
  CHECK(why(all_reduce, Algorithm::collnet, two, hgx_h100(false)) ==
        "collnet needs a fabric whose switches reduce (SHARP)");
  CHECK(why(Operation::all_gather, Algorithm::pat, two, hgx_h100(false)) ==
        "pat needs one device of each host; here are 16 devices on 2 hosts");
  CHECK(why(Operation::all_gather, Algorithm::pat, thin, hgx_h100(false)).empty());
  CHECK_FALSE(why(Operation::all_to_all, Algorithm::pxn, uneven, plain).empty());
  CHECK(obstacle(Algorithm::nvls, Protocol::ll, hgx_h100(true))->why ==
        "nvls runs with Simple only");
  CHECK_FALSE(obstacle(Algorithm::ring, Protocol::ll128, hgx_h100(true)));
}

TEST_CASE("tuner: 2 hosts x 8 H100, 1 GB all-reduce takes nvls-tree") {
  // Inside: 370.8 x 0.85 x 15/16 x 2 = 590.96 GB/s; between: twice 400; 16 channels x 57.7 = 923.
  // 16 ranks take 30 steps: 590.96 x 16/30. Latency 25 + 2 x 20.9 us.
  const Layout layout = even_layout(2, 8);
  const auto estimated = tuner_estimate(Operation::all_reduce, Algorithm::nvls_tree,
                                        Protocol::simple, layout, hgx_h100(false), gigabytes(1));
  REQUIRE(estimated);
  const double rate = 370.8e9 * 0.85 * 15 / 16 * 2 * 16 / 30;
  CHECK(estimated->time.value() == approximately(66.8e-6 + 1e9 / rate));
  CHECK(chosen(Operation::all_reduce, layout, hgx_h100(false), gigabytes(1)) == "nvls-tree Simple");
  // On four hosts the NICs bind: 400 GB/s x 32/62.
  const auto four = tuner_estimate(Operation::all_reduce, Algorithm::nvls_tree, Protocol::simple,
                                   even_layout(4, 8), hgx_h100(false), gigabytes(1));
  CHECK(four->time.value() == approximately(25e-6 + 4 * 20.9e-6 + 1e9 * 62 / (400e9 * 32)));
}

TEST_CASE("tuner: inside a host nvls from some size on, as observed") {
  // Observed on 8 H200 with NCCL 2.27.7: ring LL up to 1 MiB, NVLS from 2 MiB on.
  // Source: stas00/ml-engineering, network/README.md. By the constants: 1 MiB ring LL 28.0 us,
  // nvls 25 + 1.0486e6 / (370.8e9 x 0.85 x 23/24 x 2 x 8/14) = 28.04 us.
  const Layout layout = even_layout(1, 8);
  CHECK(chosen(Operation::all_reduce, layout, hgx_h100(true), mebibytes(1)) == "ring LL");
  CHECK(chosen(Operation::all_reduce, layout, hgx_h100(true), mebibytes(2)) == "nvls Simple");
  CHECK(chosen(Operation::all_reduce, layout, hgx_h100(true), gigabytes(1)) == "nvls Simple");
}

TEST_CASE("tuner: pat is estimated but not taken by itself; all-to-all over hosts takes pxn") {
  // 64 hosts, 64 KiB: ring LL 6.6 + 63 x 5 us; pat 8 + 6 x 14/3.5 + 2.8 x 64 = 211.2 us.
  const Layout thin = even_layout(64, 1);
  const auto pat = tuner_estimate(Operation::all_gather, Algorithm::pat, Protocol::simple, thin,
                                  hgx_h100(false), Bytes(65536));
  CHECK(pat->latency.value() == approximately(211.2e-6));
  CHECK(chosen(Operation::all_gather, thin, hgx_h100(false), Bytes(65536)) == "ring LL");
  CHECK(chosen(Operation::all_gather, thin, hgx_h100(false), Bytes(65536),
               {.algorithm = Algorithm::pat}) == "pat Simple");
  CHECK(chosen(Operation::all_to_all, even_layout(2, 8), hgx_h100(false), gigabytes(1)) ==
        "pxn Simple");
  CHECK(chosen(Operation::all_to_all, even_layout(1, 8), hgx_h100(true), gigabytes(1)) ==
        "pairwise Simple");
}

TEST_CASE("choose: what is forced is kept, the rest chosen") {
  const Layout layout = even_layout(2, 8);
  const Hardware hardware = hgx_h100(false);
  const auto all_reduce = Operation::all_reduce;
  CHECK(chosen(all_reduce, layout, hardware, gigabytes(1), {.algorithm = Algorithm::ring}) ==
        "ring Simple");
  CHECK(chosen(all_reduce, layout, hardware, Bytes(1024), {.algorithm = Algorithm::ring}) ==
        "ring LL");
  // Ring 0.92 x 370.8 x 16/30 = 181.9 GB/s, tree 0.92 x 370.8 x 120/128 / 2 = 159.9 GB/s.
  CHECK(chosen(all_reduce, layout, hardware, gigabytes(1), {.protocol = Protocol::ll128}) ==
        "ring LL128");
  CHECK(chosen(all_reduce, layout, hardware, gigabytes(1),
               {.algorithm = Algorithm::hierarchical}) == "hierarchical Simple");
  CHECK(choose(all_reduce, layout, hardware, gigabytes(1), {.channels = 4}).channels == 4);
}

TEST_CASE("bus factor: all-reduce over 8 ranks 1.75, all-gather 7/8, broadcast 1") {
  CHECK(bus_factor(Operation::all_reduce, 8) == approximately(1.75));
  CHECK(bus_factor(Operation::all_gather, 8) == approximately(0.875));
  CHECK(bus_factor(Operation::broadcast, 8) == approximately(1.0));
}
