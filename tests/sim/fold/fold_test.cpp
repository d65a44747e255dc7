// Folded runs against runs of every stream.
#include "sim/fold/fold.h"

#include <doctest/doctest.h>

#include "tests/sim/fold/lifted_system.h"
#include "tests/sim/network/equal_outcomes.h"

using namespace sim;
using namespace sim::fold;
using network::Outcome;
using network::System;

namespace {

Outcome folded(const System& system, bool skips = true) {
  Folded folding(system);
  return network::outcome_of(system, {&folding, skips});
}

Outcome whole(const System& system, bool skips = true) {
  return network::outcome_of(system, {nullptr, skips});
}

}  // namespace

TEST_CASE("fold: 3,000 random lifts, disturbed or not -> every start and end of the whole run") {
  std::size_t streams = 0, classes = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const HandSystem base = network::random_system(random);
    const auto copies = static_cast<std::int32_t>(2 + random() % 5);
    HandSystem hand = lifted(base, copies, random);
    if (seed % 3 != 0) add_changes(hand, copies, random);
    const System system = hand.iterations(1 + static_cast<int>(seed % 3)).take();
    check_equal(folded(system), whole(system));
    streams += system.streams.size();
    classes += lump(system, Shape(system), system.capacity).stream.size();
  }
  CHECK(3 * classes < streams);
}

TEST_CASE("fold: an undisturbed lift -> no more classes than the system it was lifted from") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const HandSystem base = network::random_system(random);
    const System system = lifted(base, 4, random).take();
    const Lumping lumping = lump(system, Shape(system), system.capacity);
    REQUIRE(lumping.stream.size() <= base.take().streams.size());
    const System smaller = quotient(system, Shape(system), system.capacity, lumping);
    REQUIRE(smaller.tasks() == system.tasks());
    // What is folded does not fold further.
    REQUIRE(lump(smaller, Shape(smaller), smaller.capacity).stream.size() == lumping.stream.size());
  }
}

TEST_CASE("fold: iterations that repeat are not run again, and nothing changes by it") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    HandSystem hand = lifted(network::random_system(random), 3, random);
    if (seed % 2 == 0) add_changes(hand, 3, random);
    const System system = hand.iterations(6).take();
    const Outcome skipped = folded(system), all = folded(system, false);
    REQUIRE(skipped.events <= all.events);
    check_equal(skipped, all);
    check_equal(skipped, whole(system, false));
  }
}

TEST_CASE("fold: hashes that collide -> the same classes, by comparing in full") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    HandSystem hand = lifted(network::random_system(random), 3, random);
    System system = hand.take();
    system.capacity[random() % system.capacity.size()] += 7;
    const Lumping exact = lump(system, Shape(system), system.capacity);
    for (const int bits : {0, 1, 3}) {
      const Lumping mended = lump(system, Shape(system), system.capacity, nullptr, bits);
      REQUIRE(mended.class_of_stream == exact.class_of_stream);
      REQUIRE(mended.class_of_resource == exact.class_of_resource);
    }
  }
}

TEST_CASE("fold: two flows of a class on one link, one alone on another -> the links differ") {
  // Every flow uses one link; sets of link classes are equal, what links carry is not (C3).
  HandSystem hand;
  const auto a = hand.resource("a", 100), b = hand.resource("b", 100);
  for (const auto link : {a, a, b}) hand.stream("f", {{.work = 1000, .uses = {{link, 100}}}});
  const System system = hand.take();
  const Lumping lumping = lump(system, Shape(system), system.capacity);
  CHECK(lumping.class_of_stream == std::vector<Class>{0, 0, 1});
  CHECK(lumping.class_of_resource == std::vector<Class>{0, 1});
  CHECK(folded(system).last_ends == std::vector<Picoseconds>{2000, 2000, 1000});
}

TEST_CASE("fold: waiting for one copy or for three of them -> one class, waits are a set (C1)") {
  HandSystem hand;
  for (int i = 0; i < 3; ++i) hand.stream("s", {{.work = 10}});
  hand.stream("one", {{.work = 5, .waits = {{{1}, 1, 0, 0}}}});
  hand.stream("all", {{.work = 5, .waits = {{{0, 1, 2}, 1, 0, 0}}}});
  const System system = hand.take();
  CHECK(lump(system, Shape(system), system.capacity).class_of_stream ==
        std::vector<Class>{0, 0, 0, 1, 1});
  CHECK(folded(system).last_ends == std::vector<Picoseconds>{10, 10, 10, 15, 15});
}

TEST_CASE("fold: a six-cycle of flows on shared links folds to one flow, as two triangles do") {
  // Not automorphic to each other, but nothing that happens tells them apart.
  HandSystem hand;
  std::vector<std::int32_t> links;
  for (int i = 0; i < 12; ++i) links.push_back(hand.resource("l" + std::to_string(i), 30));
  const auto flow = [&](std::size_t x, std::size_t y) {
    hand.stream("f", {{.work = 900, .uses = {{links[x], 30}, {links[y], 30}}}});
  };
  for (std::size_t i = 0; i < 6; ++i) flow(i, (i + 1) % 6);
  for (std::size_t i = 0; i < 3; ++i) flow(6 + i, 6 + (i + 1) % 3);
  for (std::size_t i = 0; i < 3; ++i) flow(9 + i, 9 + (i + 1) % 3);
  const System system = hand.take();
  CHECK(lump(system, Shape(system), system.capacity).stream.size() == 1);
  const Outcome outcome = folded(system);
  CHECK(outcome.events == 1);
  check_equal(outcome, whole(system));
}

TEST_CASE("fold: over one link of a class or over two of them -> one class, by max-min (C2)") {
  // u crosses links 0 and 1, v crosses link 2; each link has one other flow. Proportional fairness
  // would give u a third and v a half; here both get a half, and the others of their links too.
  HandSystem hand;
  std::vector<std::int32_t> links;
  for (int i = 0; i < 3; ++i) links.push_back(hand.resource("l" + std::to_string(i), 60));
  hand.stream("u", {{.work = 500, .uses = {{links[0], 60}, {links[1], 60}}}});
  hand.stream("v", {{.work = 500, .uses = {{links[2], 60}, {links[2], 0}}}});
  for (int i = 0; i < 3; ++i)
    hand.stream("w", {{.work = 500, .uses = {{links[std::size_t(i)], 60}}}});
  const System system = hand.take();
  const Outcome outcome = folded(system);
  CHECK(outcome.last_ends == std::vector<Picoseconds>(5, 1000));
  check_equal(outcome, whole(system));
}

TEST_CASE("fold: two of a class at one server -> both end when both are served; nobody is first") {
  // A queue would end one at 10 and the other at 20, by its number.
  HandSystem hand;
  const auto server = hand.resource("server", 100);
  for (int i = 0; i < 2; ++i) hand.stream("a", {{.work = 10, .uses = {{server, 100}}}});
  const System system = hand.take();
  CHECK(lump(system, Shape(system), system.capacity).stream.size() == 1);
  CHECK(folded(system).last_ends == std::vector<Picoseconds>{20, 20});
  CHECK(whole(system).last_ends == std::vector<Picoseconds>{20, 20});
}

TEST_CASE(
    "fold: a fault that is repaired -> split while it lasts, one class from the next barrier") {
  HandSystem hand;
  std::vector<std::int32_t> links;
  for (int i = 0; i < 8; ++i) links.push_back(hand.resource("l" + std::to_string(i), 10));
  for (int i = 0; i < 8; ++i) {
    hand.stream("s", {{.work = 100, .uses = {{links[std::size_t(i)], 10}}}});
  }
  hand.change(130, links[5], 5).change(150, links[5], 10);
  const System system = hand.iterations(4).take();
  Folded folding(system);
  const auto result = network::run(system, {&folding, true});
  const auto& outcome = std::get<Outcome>(result);
  // From 100 on: 30 at full speed, 20 at half, 60 at full.
  CHECK(outcome.iteration_ends == std::vector<Picoseconds>{100, 210, 310, 410});
  CHECK(folding.lumping().stream.size() == 1);
  // One, then one and another, then one for both that are left.
  CHECK(outcome.events == 1 + 2 + 1);
  check_equal(folded(system), whole(system));
}
