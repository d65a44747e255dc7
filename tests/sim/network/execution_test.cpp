// Ends of operations in systems written by hand, to the picosecond.
#include "sim/network/execution.h"

#include <doctest/doctest.h>

#include "tests/sim/network/hand_system.h"

using namespace sim;
using namespace sim::network;

namespace {

constexpr Picoseconds ms = millisecond;
constexpr std::int64_t fast = 50'000'000'000, slow = 25'000'000'000;  // bytes/s

// Alone, at `rate` through a link.
Operation transfer(std::int64_t bytes, std::int64_t rate, std::int32_t link) {
  return {.work = static_cast<Picoseconds>(Int128{bytes} * 1'000'000'000'000 / rate),
          .uses = {{link, rate}},
          .weight = byte_fair_weight(rate)};
}

}  // namespace

TEST_CASE("run: no streams, or streams without steps -> ends at 0") {
  HandSystem system;
  CHECK(outcome(system.take()).iteration_ends == std::vector<Picoseconds>{0});
  system.stream("idle");
  const Outcome result = outcome(system.take());
  CHECK(result.iteration_ends == std::vector<Picoseconds>{0});
  CHECK(result.events == 0);
}

TEST_CASE("run: a chain with lags -> the sum of lags and works, 3 + 70 + 11 + 500 + 13 ps") {
  HandSystem system;
  const std::int32_t link = system.resource("link", 10);
  system.stream("chain", {{.lag = 3, .work = 70, .uses = {{link, 10}}},
                          {.lag = 11},
                          {.work = 500},
                          {.lag = 13, .uses = {{link, 10}}},
                          {}});
  const Outcome result = outcome(system.take());
  CHECK(result.iteration_ends == std::vector<Picoseconds>{597});
  CHECK(result.events == 5);
  const std::vector<Picoseconds> starts{0, 73, 84, 584, 597}, ends{73, 84, 584, 597, 597};
  for (std::size_t i = 0; i < 5; ++i) {
    CAPTURE(i);
    CHECK(result.records[i].step == static_cast<std::int32_t>(i));
    CHECK(result.records[i].started_at == starts[i]);
    CHECK(result.records[i].ended_at == ends[i]);
  }
}

TEST_CASE("run: two transfers of 1 GB at 50 GB/s on one link -> both end at 40 ms") {
  HandSystem system;
  const std::int32_t link = system.resource("link", fast);
  system.stream("a", {transfer(1'000'000'000, fast, link)});
  system.stream("b", {transfer(1'000'000'000, fast, link)});
  CHECK(outcome(system.take()).last_ends == std::vector<Picoseconds>{40 * ms, 40 * ms});
}

TEST_CASE("run: 1 GB and 250 MB at 50 GB/s on one link -> 25 ms and 10 ms") {
  // At 25 GB/s each the short one ends at 10 ms; the long one has 750 MB left: 15 ms more.
  HandSystem system;
  const std::int32_t link = system.resource("link", fast);
  system.stream("long", {transfer(1'000'000'000, fast, link)});
  system.stream("short", {transfer(250'000'000, fast, link)});
  CHECK(outcome(system.take()).last_ends == std::vector<Picoseconds>{25 * ms, 10 * ms});
}

TEST_CASE("run: a lag loads nothing -> the other one has the link to itself for 10 ms") {
  // a alone for 10 ms (500 MB), then both at a half: a's other 500 MB take 20 ms, to 30 ms; b has
  // 500 MB left by then: 10 ms more.
  HandSystem system;
  const std::int32_t link = system.resource("link", fast);
  system.stream("a", {transfer(1'000'000'000, fast, link)});
  Operation late = transfer(1'000'000'000, fast, link);
  late.lag = 10 * ms;
  system.stream("b", {late});
  CHECK(outcome(system.take()).last_ends == std::vector<Picoseconds>{30 * ms, 40 * ms});
}

TEST_CASE("run: transfers of 50 and 25 GB/s alone on 50 GB/s -> 25 GB/s each, fair in bytes") {
  // Without weights their rates would be equal: 2/3 each, 33.3 and 16.7 GB/s.
  HandSystem system;
  const std::int32_t link = system.resource("link", fast);
  system.stream("fast", {transfer(1'000'000'000, fast, link)});
  system.stream("slow", {transfer(1'000'000'000, slow, link)});
  CHECK(outcome(system.take()).last_ends == std::vector<Picoseconds>{40 * ms, 40 * ms});
}

TEST_CASE("run: coefficients of a footprint -> a quarter on each of three paths, one binds") {
  // A quarter of 40 GB/s on paths of 10, 10 and 5 GB/s: the narrow one lets half of it through.
  System system;
  system.capacity = {10'000'000'000, 10'000'000'000, 5'000'000'000};
  constexpr std::int64_t quarter = Coefficient::coefficient_one / 4;
  system.coefficients = {{0, 1, quarter}, {1, 1, quarter}, {2, 1, quarter}};
  system.footprints = {{0, 3}};
  Program program;
  program.steps = {{.work = 7 * ms, .use_count = 1}};
  program.uses = {{0, 40'000'000'000}};
  program.milestones = {0, 1};
  program.labels = {"spray"};
  system.programs = {program};
  system.streams = {{}};
  system.stream_names = {"a"};
  CHECK(outcome(system).iteration_ends == std::vector<Picoseconds>{14 * ms});
}

TEST_CASE("run: waits for several members -> starts when the last of them has come far enough") {
  // Two steps of a end at 4 ms, of b at 10 ms, of c at 6 ms.
  HandSystem system;
  const auto a = system.stream("a", {{.work = 2 * ms}, {.work = 2 * ms}, {.work = 90 * ms}});
  const auto b = system.stream("b", {{.work = 1 * ms}, {.work = 9 * ms}});
  const auto c = system.stream("c", {{.work = 3 * ms}, {.work = 3 * ms}});
  const auto all = system.stream("all", {{.work = 5 * ms, .waits = {{{a, b, c}, 2}}}});
  const auto first = system.stream("first", {{.work = 5 * ms, .waits = {{{a, b, c}, 1}}}});
  const auto none = system.stream("none", {{.work = 5 * ms, .waits = {{{a, b, c}, 0}}}});
  const auto two = system.stream("two", {{.work = 5 * ms, .waits = {{{a}, 2}, {{c}, 2}, {{}, 2}}}});
  const auto ends = outcome(system.take()).last_ends;
  CHECK(ends[static_cast<std::size_t>(all)] == 15 * ms);
  CHECK(ends[static_cast<std::size_t>(first)] == 8 * ms);
  CHECK(ends[static_cast<std::size_t>(none)] == 5 * ms);
  CHECK(ends[static_cast<std::size_t>(two)] == 11 * ms);
  CHECK(ends[static_cast<std::size_t>(a)] == 94 * ms);
}

TEST_CASE("run: a program shared by two streams names others by slot -> each waits for its own") {
  System system;
  Program work, after;
  work.steps = {{.work = 3 * ms}};
  after.steps = {{.work = 1 * ms, .wait_count = 1}};
  after.waits = {{0, 0, false}};
  Program longer = work;
  longer.steps[0].work = 5 * ms;
  for (Program* p : {&work, &longer, &after}) {
    p->milestones = {1};
    p->labels = {"x"};
  }
  system.programs = {work, longer, after};
  system.slots = {{0, 1, 0, 0}, {1, 1, 0, 0}};
  system.members = {{0}, {1}};
  system.streams = {{.program = 0},
                    {.program = 1},
                    {.program = 2, .first_slot = 0},
                    {.program = 2, .first_slot = 1}};
  system.stream_names = {"a", "b", "after a", "after b"};
  CHECK(outcome(system).last_ends == std::vector<Picoseconds>{3 * ms, 5 * ms, 4 * ms, 6 * ms});
}

TEST_CASE("run: capacity zero from 4 to 9 ms -> 10 ms of transfer end at 15 ms") {
  HandSystem system;
  const auto link = system.resource("link", 7);
  system.stream("a", {{.work = 10 * ms, .uses = {{link, 7}}}});
  system.change(4 * ms, link, 0).change(9 * ms, link, 7);
  CHECK(outcome(system.take()).iteration_ends == std::vector<Picoseconds>{15 * ms});
}

TEST_CASE("run: a collective holds multiprocessors from when it is ready, not when all are") {
  // Rank 0 is ready for the collective at 1 ms, rank 1 at 5 ms; it takes 2 ms, to 7 ms. From 1 ms
  // to 7 ms a quarter of device 0 is held: its 10 ms of work get 1 + 6 * 3/4 = 5.5 by 7 ms, and
  // end 4.5 ms later. Device 1 loses a quarter of 2 ms only.
  HandSystem system;
  const auto device0 = system.resource("device 0", multiprocessors_one);
  const auto device1 = system.resource("device 1", multiprocessors_one);
  const auto ready0 = system.stream("ready 0", {{.work = 1 * ms}});
  const auto ready1 = system.stream("ready 1", {{.work = 5 * ms}});
  const auto compute0 =
      system.stream("compute 0", {{.work = 10 * ms, .uses = {{device0, multiprocessors_one}}}});
  const auto compute1 =
      system.stream("compute 1", {{.work = 10 * ms, .uses = {{device1, multiprocessors_one}}}});
  WaitFor first{.streams = {ready0}}, second{.streams = {ready1}};
  first.reserve = {device0};
  second.reserve = {device1};
  const auto collective = system.stream(
      "all-reduce",
      {{.work = 2 * ms, .waits = {first, second}, .reserve = multiprocessors_one / 4}});
  const auto ends = outcome(system.take()).last_ends;
  CHECK(ends[static_cast<std::size_t>(collective)] == 7 * ms);
  CHECK(ends[static_cast<std::size_t>(compute0)] == 11'500'000'000);
  CHECK(ends[static_cast<std::size_t>(compute1)] == 10'500'000'000);
}

TEST_CASE("run: a wait met on arrival reserves too -> and gives back at the end") {
  // compute is slowed to 1/2 while `hold` runs, 2 to 5 ms: 2 + 1.5, then 6.5 more.
  HandSystem system;
  const auto device = system.resource("device", 10);
  const auto before = system.stream("before", {{.work = 1 * ms}});
  const auto compute = system.stream("compute", {{.work = 10 * ms, .uses = {{device, 10}}}});
  WaitFor wait{.streams = {before}};
  wait.reserve = {device};
  system.stream("hold", {{.work = 2 * ms}, {.work = 3 * ms, .waits = {wait}, .reserve = 5}});
  CHECK(outcome(system.take()).last_ends[static_cast<std::size_t>(compute)] == 11'500'000'000);
}

TEST_CASE("run: loads over time of an observed link -> each change once, in units of 2^-32") {
  // a: 60 until 4 ms, 30 from 7 to 10 ms; b: 20 from 2 to 3 ms.
  HandSystem system;
  const auto link = system.resource("link", 100), other = system.resource("other", 100);
  system.observe(link);
  system.stream("a", {{.work = 4 * ms, .uses = {{link, 60}}},
                      {.work = 3 * ms},
                      {.work = 3 * ms, .uses = {{link, 30}}}});
  system.stream("b", {{.work = 2 * ms}, {.work = 1 * ms, .uses = {{link, 20}, {other, 9}}}});
  const Outcome result = outcome(system.take());
  const std::vector<std::pair<Picoseconds, std::int64_t>> expected{
      {0, 60}, {2 * ms, 80}, {3 * ms, 60}, {4 * ms, 0}, {7 * ms, 30}, {10 * ms, 0}};
  REQUIRE(result.loads.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(result.loads[i].observed == 0);
    CHECK(result.loads[i].at == expected[i].first);
    CHECK((result.loads[i].load == (Int128{expected[i].second} << rate_bits)));
  }
}

TEST_CASE("run: an observed link that is idle at first -> a load of zero at the start") {
  HandSystem system;
  const auto link = system.resource("link", 100);
  system.observe(link);
  system.stream("a", {{.lag = 4, .work = 6, .uses = {{link, 60}}}});
  const Outcome result = outcome(system.take());
  REQUIRE(result.loads.size() == 3);
  CHECK(result.loads[0].at == 0);
  CHECK((result.loads[0].load == 0));
  CHECK(result.loads[1].at == 4);
  CHECK(result.loads[2].at == 10);
}
