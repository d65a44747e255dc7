// Where the time of a stream goes: its operations, their parts, and whom it waits for.
#include <doctest/doctest.h>

#include <numeric>

#include "tests/sim/network/random_system.h"

using namespace sim;
using namespace sim::network;

namespace {

constexpr Picoseconds ms = millisecond;
constexpr std::uint8_t work = 1, busy = 2, late = 3, busy_too = 4, late_too = 5;

using Times = std::array<Picoseconds, kind_max>;

Times times_of(const HandSystem& system, std::int32_t stream) {
  return outcome(system.take()).times[static_cast<std::size_t>(stream)];
}

}  // namespace

TEST_CASE("attribution: a gap of 6 ms -> 3 before the operation waited for starts, 3 during it") {
  // b: 0-5, 5-8 ms. a has done its 2 ms, and waits for b's second one.
  HandSystem system;
  const auto b = system.stream("b", {{.work = 5 * ms}, {.work = 3 * ms}});
  const auto a =
      system.stream("a", {{.work = 2 * ms, .kind = work},
                          {.work = 1 * ms, .waits = {{{b}, 2, busy, late}}, .kind = work}});
  const Times expected{0, 3 * ms, 3 * ms, 3 * ms};
  CHECK(times_of(system, a) == expected);
}

TEST_CASE("attribution: waiting for what is in progress already -> nothing is late") {
  HandSystem system;
  const auto b = system.stream("b", {{.work = 5 * ms}});
  const auto a = system.stream(
      "a", {{.work = 2 * ms, .kind = work}, {.waits = {{{b}, 1, busy, late}}, .kind = work}});
  const Times expected{0, 2 * ms, 3 * ms};
  CHECK(times_of(system, a) == expected);
}

TEST_CASE("attribution: several waits -> the one met last is blamed for the whole gap") {
  HandSystem system;
  const auto b = system.stream("b", {{.work = 4 * ms}});
  const auto c = system.stream("c", {{.work = 6 * ms}, {.work = 3 * ms}});
  const auto a = system.stream(
      "a", {{.waits = {{{b}, 1, busy, late}, {{c}, 2, busy_too, late_too}}, .kind = work}});
  const Times expected{0, 0, 0, 0, 3 * ms, 6 * ms};
  CHECK(times_of(system, a) == expected);
}

TEST_CASE("attribution: the one met last is blamed even if it started first") {
  // b: 3-4 ms, c: 0-6 ms; c, of a higher slot, is what is waited for in the end.
  HandSystem system;
  const auto b = system.stream("b", {{.work = 3 * ms}, {.work = 1 * ms}});
  const auto c = system.stream("c", {{.work = 6 * ms}});
  const auto a =
      system.stream("a", {{.waits = {{{b}, 2, busy, late}, {{c}, 1, busy_too, late_too}}}});
  const Times expected{0, 0, 0, 0, 6 * ms};
  CHECK(times_of(system, a) == expected);
}

TEST_CASE("attribution: met at one instant -> the one that started last, then the lowest slot") {
  // b: 2-8 ms, c: 5-8 ms, d: 5-8 ms.
  HandSystem system;
  const auto b = system.stream("b", {{.work = 2 * ms}, {.work = 6 * ms}});
  const auto c = system.stream("c", {{.work = 5 * ms}, {.work = 3 * ms}});
  const auto d = system.stream("d", {{.work = 5 * ms}, {.work = 3 * ms}});
  const auto started_last =
      system.stream("a", {{.waits = {{{b}, 2, busy, late}, {{c}, 2, busy_too, late_too}}}});
  const auto lowest_slot =
      system.stream("e", {{.waits = {{{d}, 2, busy_too, late_too}, {{c}, 2, busy, late}}}});
  const auto members = system.stream("f", {{.waits = {{{b, d}, 2, busy, late}}}});
  const Times too{0, 0, 0, 0, 3 * ms, 5 * ms}, first{0, 0, 3 * ms, 5 * ms};
  CHECK(times_of(system, started_last) == too);
  CHECK(times_of(system, lowest_slot) == too);
  CHECK(times_of(system, members) == first);
}

TEST_CASE(
    "attribution: a wait of one stream for another that itself waits -> late until it starts") {
  // b starts at 4 ms, when c has ended, and ends at 6 ms.
  HandSystem system;
  const auto c = system.stream("c", {{.work = 4 * ms}});
  const auto b =
      system.stream("b", {{.work = 2 * ms, .waits = {{{c}, 1, busy, late}}, .kind = work}});
  const auto a = system.stream("a", {{.waits = {{{b}, 1, busy, late}}}});
  const Times of_b{0, 2 * ms, 4 * ms}, of_a{0, 0, 2 * ms, 4 * ms};
  CHECK(times_of(system, b) == of_b);
  CHECK(times_of(system, a) == of_a);
}

TEST_CASE("attribution: a merged operation -> its parts, in proportion where it was slowed down") {
  // Lag 1 + work 9 = 10 alone: parts 6 and 3, the rest 1. On half the capacity 1 + 18 = 19:
  // floor(6 * 1.9) = 11, floor(3 * 1.9) = 5, the rest 3.
  const std::vector<Part> parts{{work, 6}, {busy, 3}};
  for (const bool is_slow : {false, true}) {
    HandSystem system;
    const auto link = system.resource("link", is_slow ? 5 : 10);
    const auto a = system.stream(
        "a", {{.lag = 1, .work = 9, .uses = {{link, 10}}, .kind = late, .parts = parts}});
    const Times alone{0, 6, 3, 1}, slowed{0, 11, 5, 3};
    CHECK(times_of(system, a) == (is_slow ? slowed : alone));
  }
}

TEST_CASE("attribution: a merged operation that takes no time -> no time for its parts") {
  HandSystem system;
  const auto a = system.stream("a", {{.kind = late, .parts = {{work, 0}, {busy, 0}}}});
  CHECK(times_of(system, a) == Times{});
}

TEST_CASE("attribution: kinds sum to the end of the stream -> 500 random systems, last iteration") {
  Picoseconds waited = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    HandSystem system = random_system(random);
    system.iterations(2);
    if (seed % 2 == 1) system.change(700, 0, 55);
    const Outcome result = outcome(system.take());
    for (std::size_t s = 0; s < result.times.size(); ++s) {
      const Times& times = result.times[s];
      REQUIRE(*std::min_element(times.begin(), times.end()) >= 0);
      REQUIRE(std::accumulate(times.begin(), times.end(), Picoseconds{0}) ==
              result.last_ends[s] - result.iteration_ends[0]);
      waited += std::accumulate(times.begin() + 4, times.begin() + 12, Picoseconds{0});
    }
  }
  CHECK(waited > 100'000);
}
