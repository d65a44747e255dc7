// NCCL's choices, from its own law worked by hand.
#include "sim/collective/tuner.h"

#include <string>

#include "tests/approximately.h"
#include "tests/sim/collective/layouts.h"

using namespace sim;
using namespace sim::collective;

namespace {

// NVLink 4: 450 GB/s, of which NCCL counts 18 x 20.6 = 370.8; eight NICs of 400 Gbit/s.
const Hardware hopper{Hardware::Generation::hopper,   true, true, gigabytes_per_second(450),
                      gigabytes_per_second(8 * 50.0), false};
// NVLink 3: 300 GB/s, counted as 240; eight NICs of 200 Gbit/s.
const Hardware ampere{Hardware::Generation::ampere,   true, true, gigabytes_per_second(300),
                      gigabytes_per_second(8 * 25.0), false};

std::string chosen(Operation operation, const Layout& layout, const Hardware& hardware,
                   Bytes size) {
  const Choice choice = choose(operation, layout, hardware, size);
  return std::string(name(choice.algorithm)) + " " + name(choice.protocol);
}

Seconds time(Operation operation, Algorithm algorithm, Protocol protocol, const Layout& layout,
             const Hardware& hardware, Bytes size) {
  return tuner_estimate(operation, algorithm, protocol, layout, hardware, size)->time;
}

}  // namespace

TEST_CASE("tuner: 8 H100 on one host, 1 GB all-reduce") {
  const Layout layout = even_layout(1, 8);
  // Ring Simple: 8.4 + 14 x 3.4 = 56 us, 370.8 GB/s x 8/14.
  CHECK(time(Operation::all_reduce, Algorithm::ring, Protocol::simple, layout, hopper, gigabytes(1))
            .value() == approximately(56e-6 + 14 / (8 * 370.8)));
  // Ring LL128: 14 + 14 x 1.9 = 40.6 us, 92 % of it.
  CHECK(time(Operation::all_reduce, Algorithm::ring, Protocol::ll128, layout, hopper, gigabytes(1))
            .value() == approximately(40.6e-6 + 14 / (8 * 0.92 * 370.8)));
  // Ring LL: 6.6 + 14 x 0.6 = 15 us, at most 141 GB/s.
  CHECK(time(Operation::all_reduce, Algorithm::ring, Protocol::ll, layout, hopper, gigabytes(1))
            .value() == approximately(15e-6 + 14 / (8 * 141.0)));
  // Tree Simple: a chain of 8, 8.4 + 2 x 7 x 4 = 64.4 us, half of 92 %.
  CHECK(time(Operation::all_reduce, Algorithm::tree, Protocol::simple, layout, hopper, gigabytes(1))
            .value() == approximately(64.4e-6 + 2 / (0.92 * 370.8)));
  CHECK(chosen(Operation::all_reduce, layout, hopper, gigabytes(1)) == "ring Simple");
}

TEST_CASE("tuner: 8 H100 on one host go from LL over LL128 to Simple") {
  // 1 MiB: LL 15 + 1.0486e6/80571 = 28.0 us; LL128 40.6 + 5.4; tree LL128 31.5 + 13.2 (x 0.6).
  // 8 MiB: LL 15 + 104; LL128 40.6 + 43.0; Simple 56 + 39.6 us. 64 MiB: LL128 385, Simple 373 us.
  // Observed with NCCL 2.27.7 on 8 H200: ring LL up to 1 MiB (NVLS above).
  // Source: stas00/ml-engineering, network/README.md.
  const Layout layout = even_layout(1, 8);
  CHECK(chosen(Operation::all_reduce, layout, hopper, Bytes(1024)) == "ring LL");
  CHECK(chosen(Operation::all_reduce, layout, hopper, mebibytes(1)) == "ring LL");
  CHECK(chosen(Operation::all_reduce, layout, hopper, mebibytes(8)) == "ring LL128");
  CHECK(chosen(Operation::all_reduce, layout, hopper, mebibytes(64)) == "ring Simple");
}

TEST_CASE("tuner: many hosts take a tree for small messages, a ring for large ones") {
  // 128 x 8, 64 KiB. Tree LL: 6.8 + 2 (7 x 0.6 + 7 x 5) = 85.2 us, and bytes at 341.1 / 3.8 GB/s,
  // at most 20.4, halved, x 0.6 by the table at 2^10 x 64 B: 6.12 GB/s.
  const Layout layout = even_layout(128, 8);
  const double bytes = 65536;
  CHECK(time(Operation::all_reduce, Algorithm::tree, Protocol::ll, layout, hopper, Bytes(bytes))
            .value() == approximately(85.2e-6 + bytes / 6.12e9));
  // Ring LL: 6.6 + (2046 - 254) x 1 + 254 x 2.7 = 2,484.4 us: the network's overhead of 1 us a
  // step exceeds NVLink's 0.6.
  const auto ring = tuner_estimate(Operation::all_reduce, Algorithm::ring, Protocol::ll, layout,
                                   hopper, Bytes(bytes));
  CHECK(ring->latency.value() == approximately(2484.4e-6));
  CHECK(chosen(Operation::all_reduce, layout, hopper, Bytes(bytes)) == "tree LL");
  // Simple: ring 370.8 x 1024/2046 = 185.6 GB/s after 1.4 x 9.7 ms, tree 170.6 GB/s after 0.26 ms;
  // they meet at 28 GB.
  CHECK(chosen(Operation::all_reduce, layout, hopper, gigabytes(20)) == "tree Simple");
  CHECK(chosen(Operation::all_reduce, layout, hopper, gigabytes(40)) == "ring Simple");
}

TEST_CASE("tuner: the plateau of a ring over hosts with Simple, 1.4 x its latency") {
  // 2 x 8: 8.4 + (30 - 2) x 3.4 + 2 x 14 = 131.6 us; from 64 x 16 channels x 16 ranks = 16 KiB on.
  const Layout layout = even_layout(2, 8);
  const auto estimate = [&](double bytes) {
    return tuner_estimate(Operation::all_reduce, Algorithm::ring, Protocol::simple, layout, hopper,
                          Bytes(bytes))
        ->latency;
  };
  CHECK(estimate(16383).value() == approximately(131.6e-6));
  CHECK(estimate(16384).value() == approximately(1.4 * 131.6e-6));
}

TEST_CASE("tuner: two hosts with NICs slower than NVLink take a tree") {
  // Ring: NICs, 200 GB/s x 16/30 = 106.7 GB/s. Tree: ports, 92 % of 240 GB/s / 2 = 110.4 GB/s.
  // On four hosts both are bound by the NICs: 200 x 32/62 = 103.2 against 92.
  CHECK(chosen(Operation::all_reduce, even_layout(2, 8), ampere, gigabytes(4)) == "tree Simple");
  CHECK(chosen(Operation::all_reduce, even_layout(4, 8), ampere, gigabytes(4)) == "ring Simple");
}

TEST_CASE("tuner: only all-reduce has trees; no LL128 without NVLink") {
  Hardware pci = ampere;
  pci.has_nvlink = pci.has_nvswitch = false;
  pci.intra = gigabytes_per_second(20);
  for (double bytes = 64; bytes < 1e10; bytes *= 2) {
    for (const Layout& layout : {even_layout(1, 8), even_layout(4, 8)}) {
      for (const Operation operation :
           {Operation::all_gather, Operation::reduce_scatter, Operation::broadcast}) {
        CHECK(choose(operation, layout, hopper, Bytes(bytes)).algorithm == Algorithm::ring);
      }
      const Choice choice = choose(Operation::all_reduce, layout, pci, Bytes(bytes));
      CHECK(choice.protocol != Protocol::ll128);
    }
  }
  CHECK_FALSE(tuner_estimate(Operation::all_gather, Algorithm::tree, Protocol::ll,
                             even_layout(1, 8), hopper, Bytes(1)));
}

TEST_CASE("tuner: point-to-point messages up to 16 KiB go by LL") {
  // All-to-all of 8 ranks: the message is an eighth.
  const Layout layout = even_layout(1, 8);
  CHECK(chosen(Operation::all_to_all, layout, hopper, Bytes(8 * 16384)) == "pairwise LL");
  CHECK(chosen(Operation::all_to_all, layout, hopper, Bytes(8 * 16385)) == "pairwise Simple");
  CHECK(chosen(Operation::send_receive, even_layout(2, 1), hopper, Bytes(16384)) == "direct LL");
  CHECK(chosen(Operation::send_receive, even_layout(2, 1), hopper, gigabytes(1)) ==
        "direct Simple");
}

TEST_CASE("tuner: the choice is what the estimates say, and exists for every operation") {
  for (const Layout& layout : {even_layout(1, 1), even_layout(1, 8), even_layout(3, 8)}) {
    for (double bytes = 1; bytes < 1e11; bytes *= 7) {
      const Choice choice = choose(Operation::all_reduce, layout, hopper, Bytes(bytes));
      if (layout.ranks() == 1) continue;
      const Seconds best = time(Operation::all_reduce, choice.algorithm, choice.protocol, layout,
                                hopper, Bytes(bytes));
      for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree}) {
        for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
          CHECK(time(Operation::all_reduce, algorithm, protocol, layout, hopper, Bytes(bytes)) >=
                best);
        }
      }
    }
  }
}
