// Iterations, the shortcut for those that repeat, fingerprints, order of streams.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "tests/sim/network/equal_outcomes.h"
#include "tests/sim/network/random_system.h"

using namespace sim;
using namespace sim::network;

namespace {

constexpr Picoseconds ms = millisecond;

// The records also in their order.
void check_the_same(const Outcome& a, const Outcome& b) {
  check_equal(a, b);
  REQUIRE(a.records.size() == b.records.size());
  for (std::size_t i = 0; i < a.records.size(); ++i) {
    REQUIRE(a.records[i].stream == b.records[i].stream);
    REQUIRE(a.records[i].step == b.records[i].step);
  }
}

}  // namespace

TEST_CASE("run: three iterations -> each starts when all have ended; times are of the last") {
  HandSystem system;
  system.stream("a", {{.work = 3 * ms}, {.work = 1 * ms}});
  system.stream("b", {{.work = 5 * ms}});
  system.stream("idle");
  const Outcome result = outcome(system.iterations(3).take());
  CHECK(result.iteration_ends == std::vector<Picoseconds>{5 * ms, 10 * ms, 15 * ms});
  CHECK(result.last_ends == std::vector<Picoseconds>{14 * ms, 15 * ms, 10 * ms});
  REQUIRE(result.records.size() == 3);
  CHECK(result.records[0].started_at == 10 * ms);
  CHECK(result.records[0].ended_at == 13 * ms);
  CHECK(result.records[2].ended_at == 15 * ms);
}

TEST_CASE("run: repeating the first iteration -> the same as running them all, 300 systems") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    HandSystem system = random_system(random);
    system.iterations(2 + static_cast<int>(seed % 3));
    const Outcome repeated = outcome(system.take());
    // A change to what the capacity is already makes every iteration run.
    const Picoseconds at = static_cast<Picoseconds>(random() % 4000);
    system.change(at, 0, system.take().capacity[0]);
    check_the_same(repeated, outcome(system.take()));
  }
}

TEST_CASE("run: a link at half its capacity from 15 ms on -> iterations of 10, 15 and 20 ms") {
  // The second one has 5 ms of its 10 ms left at 15 ms: 10 ms more.
  HandSystem system;
  const auto link = system.resource("link", 100);
  system.stream("a", {{.work = 10 * ms, .uses = {{link, 100}}}});
  const Outcome result = outcome(system.change(15 * ms, link, 50).iterations(3).take());
  CHECK(result.iteration_ends == std::vector<Picoseconds>{10 * ms, 25 * ms, 45 * ms});
  CHECK(result.last_ends == std::vector<Picoseconds>{45 * ms});
  CHECK(result.records.front().started_at == 25 * ms);
  CHECK(result.events == 3);
}

TEST_CASE("run: the same system twice -> the same fingerprint; one picosecond more -> another") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    HandSystem system = random_system(random);
    const Outcome first = outcome(system.take()), second = outcome(system.take());
    REQUIRE(first.fingerprint == second.fingerprint);
    check_the_same(first, second);
    system.stream("more", {{.work = 1}});
    const Outcome one = outcome(system.take());
    REQUIRE(one.events == first.events + 1);
    REQUIRE(one.fingerprint != first.fingerprint);
  }
}

TEST_CASE("run: streams in another order -> the same fingerprint; another time -> another") {
  const auto fingerprint = [](Picoseconds a, Picoseconds b) {
    HandSystem system;
    system.stream("a", {{.work = a}});
    system.stream("b", {{.work = b}});
    return outcome(system.take()).fingerprint;
  };
  CHECK(fingerprint(3, 4) == fingerprint(4, 3));
  CHECK(fingerprint(3, 4) != fingerprint(3, 5));
  CHECK(fingerprint(3, 3) != fingerprint(3, 4));
}

TEST_CASE("run: streams and their members in another order -> the same ends and times") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const HandSystem hand = random_system(random);
    const System system = hand.take();
    std::vector<std::int32_t> place(system.streams.size());
    std::iota(place.begin(), place.end(), 0);
    std::shuffle(place.begin(), place.end(), random);
    System other = system;
    for (std::size_t s = 0; s < place.size(); ++s) {
      const auto to = static_cast<std::size_t>(place[s]);
      other.streams[to] = system.streams[s];
      other.stream_names[to] = system.stream_names[s];
    }
    for (Member& m : other.members) m.stream = place[static_cast<std::size_t>(m.stream)];
    const Outcome a = outcome(system), b = outcome(other);
    REQUIRE(a.iteration_ends == b.iteration_ends);
    for (std::size_t s = 0; s < place.size(); ++s) {
      REQUIRE(b.last_ends[static_cast<std::size_t>(place[s])] == a.last_ends[s]);
      REQUIRE(b.times[static_cast<std::size_t>(place[s])] == a.times[s]);
    }
    REQUIRE(a.loads.size() == b.loads.size());
    for (std::size_t i = 0; i < a.loads.size(); ++i) REQUIRE((a.loads[i].load == b.loads[i].load));
  }
}

TEST_CASE("run: only streams that are recorded or accounted leave records and times") {
  HandSystem hand;
  hand.stream("a", {{.work = 5, .kind = 3}});
  hand.stream("b", {{.work = 7, .kind = 3}});
  System system = hand.take();
  system.streams[0].is_recorded = false;
  system.streams[1].is_accounted = false;
  const Outcome result = outcome(system);
  REQUIRE(result.records.size() == 1);
  CHECK(result.records[0].stream == 1);
  CHECK(result.times[0][3] == 5);
  CHECK(result.times[1][3] == 0);
}
