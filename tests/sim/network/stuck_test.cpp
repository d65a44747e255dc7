// What is said when nothing can go on.
#include "sim/network/stuck.h"

#include <doctest/doctest.h>

#include "tests/sim/network/hand_system.h"

using namespace sim;
using namespace sim::network;

namespace {

Stuck stuck(const HandSystem& system) {
  auto result = run(system.take());
  REQUIRE(std::holds_alternative<Stuck>(result));
  return std::get<Stuck>(result);
}

}  // namespace

TEST_CASE("stuck: two streams that wait for each other -> both, at the instant it stopped") {
  HandSystem system;
  system.stream("rank 0 compute", {{.label = "forward 0", .work = 7},
                                   {.label = "forward 1", .work = 1, .waits = {{{1}, 2}}}});
  system.stream("rank 1 compute", {{.label = "forward 0", .work = 9},
                                   {.label = "backward 0", .work = 1, .waits = {{{0}, 2}}}});
  const Stuck result = stuck(system);
  CHECK(result.at == 9);
  CHECK(result.cycle ==
        "  rank 0 compute before 'forward 1' waits for rank 1 compute to end 'backward 0'\n"
        "  rank 1 compute before 'backward 0' waits for rank 0 compute to end 'forward 1'\n");
}

TEST_CASE("stuck: three streams in a circle, and one that only waits for it -> the three") {
  HandSystem system;
  system.stream("done", {{.label = "nothing", .work = 1}});
  system.stream("outside", {{.label = "later", .waits = {{{2}, 1}}}});
  system.stream("a", {{.label = "x", .waits = {{{0}, 1}, {{3}, 1}}}});
  system.stream("b", {{.label = "y", .waits = {{{4}, 2}}}});
  system.stream("c", {{.label = "w"}, {.label = "z", .waits = {{{2}, 1}}}});
  CHECK(stuck(system).cycle ==
        "  a before 'x' waits for b to end 'y'\n"
        "  b before 'y' waits for c to end 'z'\n"
        "  c before 'z' waits for a to end 'x'\n");
}

TEST_CASE("stuck: a stream that waits for its own future -> itself") {
  HandSystem system;
  system.stream("a", {{.label = "x", .waits = {{{0}, 2}}}, {.label = "y"}});
  CHECK(stuck(system).cycle == "  a before 'x' waits for a to end 'y'\n");
}

TEST_CASE("stuck: capacity 0 for ever -> who stands still, in what, for lack of what") {
  HandSystem system;
  const auto good = system.resource("host 0 nic 1", 10);
  const auto bad = system.resource("host 0 nic 0", 10);
  system.stream("waits", {{.label = "backward", .waits = {{{1}, 1}}}});
  system.stream("sends", {{.label = "send", .work = 9, .uses = {{good, 5}, {bad, 5}, {bad, 1}}}});
  CHECK(stuck(system.change(4, bad, 0)).cycle ==
        "  sends is in 'send' and gets no rate: host 0 nic 0 has capacity 0\n");
}

TEST_CASE("stuck: everything reserved by one that waits -> it is said that others hold it") {
  HandSystem system;
  const auto device = system.resource("device", 10);
  WaitFor ready{.streams = {0}};
  ready.reserve = {device};
  system.stream("before", {{.label = "x", .work = 1}});
  system.stream("compute", {{.label = "gemm", .work = 50, .uses = {{device, 10}}}});
  system.stream("all-reduce", {{.label = "reduce", .waits = {ready, {{1}, 1}}, .reserve = 10}});
  CHECK(stuck(system).cycle ==
        "  compute is in 'gemm' and gets no rate: with what others leave it would not end within "
        "53 days\n");
}
