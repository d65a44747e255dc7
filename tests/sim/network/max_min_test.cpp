// The solver against cases solved by hand.
#include "sim/network/max_min.h"

#include <doctest/doctest.h>

#include "tests/approximately.h"
#include "tests/sim/network/max_min_case.h"

using namespace sim;
using namespace sim::network;

namespace {

// 2^-32 is the unit of rates: a share of s is met to 2^-32 / s.
constexpr double rounding = 1e-8;

}  // namespace

TEST_CASE("max-min: nothing shared -> everybody at the cap") {
  const auto rates = solve({{10}, {{}, {weight_one, rate_one / 4, {}}, {.uses = {{0, 10}}}}});
  CHECK(rates == std::vector<std::int64_t>{rate_one, rate_one / 4, rate_one});
}

TEST_CASE("max-min: no tasks, no resources -> nothing") { CHECK(solve({{}, {}}).empty()); }

TEST_CASE("max-min: four tasks of 1 on a capacity of 1 -> a quarter each, exactly") {
  const MaxMinCase::Task task{.uses = {{0, 1}}};
  CHECK(solve({{1}, {task, task, task, task}}) == std::vector<std::int64_t>(4, rate_one / 4));
}

TEST_CASE("max-min: parking lot, unequal links -> 0.5, 0.5, 1.5 of 4") {
  // a: 1, crossed by {long, x}; b: 2, crossed by {long, y}; each flow alone goes at 4.
  // Equal shares 1/2 and 2/2: a fills first, long = x = 0.5; then y = 2 - 0.5 = 1.5. Over 4.
  const auto rates =
      solve({{1, 2}, {{.uses = {{0, 4}, {1, 4}}}, {.uses = {{0, 4}}}, {.uses = {{1, 4}}}}});
  CHECK(rates == std::vector<std::int64_t>{rate_one / 8, rate_one / 8, rate_one * 3 / 8});
}

TEST_CASE("max-min: parking lot of three links -> the long flow gets the least, the rest is used") {
  // Capacities 6, 10, 12; long crosses all; 2, 1, 1 short ones; all go at 12 alone.
  // Link 0: three flows, 2 each. Then link 1: 10 - 2 = 8, link 2: 12 - 2 = 10.
  const MaxMinCase::Task on0{.uses = {{0, 12}}}, on1{.uses = {{1, 12}}}, on2{.uses = {{2, 12}}};
  const auto rates =
      solve({{6, 10, 12}, {{.uses = {{0, 12}, {1, 12}, {2, 12}}}, on0, on0, on1, on2}});
  const double expected[] = {2, 2, 2, 8, 10};
  for (std::size_t t = 0; t < 5; ++t) {
    CHECK(12 * share(rates[t]) == approximately(expected[t], rounding));
  }
}

TEST_CASE("max-min: weights 1 and 2 on a capacity of 3 of 4 -> 1 and 2 of 4") {
  const auto rates =
      solve({{3}, {{.uses = {{0, 4}}}, {.weight = 2 * weight_one, .uses = {{0, 4}}}}});
  CHECK(rates == std::vector<std::int64_t>{rate_one / 4, rate_one / 2});
}

TEST_CASE("max-min: a cap frees capacity for the others -> 1/8 and 3/8 each") {
  // Capacity 7/8 of three equal tasks: 7/24 each; one is held at 1/8, so 6/8 are left for two.
  const MaxMinCase::Task free{.uses = {{0, 8}}};
  const auto rates = solve({{7}, {{.cap = rate_one / 8, .uses = {{0, 8}}}, free, free}});
  CHECK(rates == std::vector<std::int64_t>{rate_one / 8, rate_one * 3 / 8, rate_one * 3 / 8});
}

TEST_CASE("max-min: two resources saturate at one level -> one set, nothing is left on either") {
  // 2 on {a, both}, 2 on {b, both}: each resource splits in halves at level 1; c gets 3 - 1.
  const auto rates = solve({{2, 2, 3},
                            {{.uses = {{0, 2}}},
                             {.uses = {{1, 2}}},
                             {.uses = {{0, 2}, {1, 2}, {2, 2}}},
                             {.uses = {{2, 4}}}}});
  CHECK(rates == std::vector<std::int64_t>{rate_one / 2, rate_one / 2, rate_one / 2, rate_one / 2});
}

TEST_CASE("max-min: a resource used twice counts twice -> 1/4 instead of 1/2") {
  CHECK(solve({{1}, {{.uses = {{0, 2}}}}})[0] == rate_one / 2);
  CHECK(solve({{1}, {{.uses = {{0, 2}, {0, 2}}}}})[0] == rate_one / 4);
}

TEST_CASE("max-min: capacity zero -> rate zero, and what was reserved elsewhere goes to others") {
  const auto rates =
      solve({{0, 4}, {{.uses = {{0, 1}, {1, 4}}}, {.uses = {{1, 4}}}, {.uses = {{1, 4}}}}});
  CHECK(rates == std::vector<std::int64_t>{0, rate_one / 2, rate_one / 2});
}

TEST_CASE("max-min: a use of nothing limits nothing -> the cap, beside a task at rate zero") {
  // Both name a resource without capacity, the first one with amount zero.
  CHECK(solve({{0}, {{.uses = {{0, 0}}}, {.uses = {{0, 1}}}}}) ==
        std::vector<std::int64_t>{rate_one, 0});
  // 3 tasks of 1 on a capacity of 1: a third each; the one that only names it is not held back.
  CHECK(solve({{1}, {{.uses = {{0, 1}, {0, 0}}}, {.uses = {{0, 0}}}, {.uses = {{0, 1}}}}}) ==
        std::vector<std::int64_t>{rate_one / 2, rate_one, rate_one / 2});
}

TEST_CASE("max-min: slow tasks have large weights, and still exact shares -> 1/100 of 100 MB/s") {
  // 1e11 / 1e8 = 1,000: a level in units of 2^-32 would be 2^32 / 100 / 1000 = 42,949.67, and its
  // floor 16 millionths too low.
  const std::int64_t rate = 100'000'000;
  const MaxMinCase::Task task{.weight = byte_fair_weight(rate), .uses = {{0, rate}}};
  const auto rates = solve({{rate}, std::vector<MaxMinCase::Task>(100, task)});
  // floor(2^32 / 100)
  CHECK(rates == std::vector<std::int64_t>(100, 42'949'672));
}

TEST_CASE("max-min: largest and smallest numbers allowed -> no overflow, exact shares") {
  const std::int64_t largest = (std::int64_t{1} << 44) - 1;
  const std::int64_t heavy = std::int64_t{1} << 38, light = std::int64_t{1} << 10;
  const MaxMinCase::Task heavy_task{.weight = heavy, .uses = {{0, largest}}};
  const auto alike = solve({{largest}, std::vector<MaxMinCase::Task>(1024, heavy_task)});
  CHECK(alike == std::vector<std::int64_t>(1024, rate_one / 1024));
  // 2^28 to 1: the light one gets 2^32 / (2^28 + 1) = 15.99 units, of which whole ones count.
  const auto rates = solve({{largest}, {heavy_task, {.weight = light, .uses = {{0, largest}}}}});
  CHECK(rates[1] == 15);
  CHECK(share(rates[0]) == approximately(1.0, rounding));
  // A capacity that only the level of a light task could exceed.
  CHECK(solve({{largest}, {{.weight = light, .uses = {{0, 1}}}}})[0] == rate_one);
}

TEST_CASE("max-min: two groups whose sums are 2^60 on 2^43 -> 2^-18 each, without overflow") {
  const std::int64_t sum = std::int64_t{1} << 60;
  for (const std::int64_t weight : {std::int64_t{1} << 10, weight_one, std::int64_t{1} << 38}) {
    const MaxMinCase::Task group{.weight = weight, .uses = {{0, sum}}};
    CHECK(solve({{std::int64_t{1} << 43}, {group, group}}) ==
          std::vector<std::int64_t>(2, rate_one >> 18));
  }
  // 4,096 such groups of the largest weight: loads add up to 2^110.
  const MaxMinCase::Task group{.weight = std::int64_t{1} << 38, .uses = {{0, sum}}};
  CHECK(solve({{std::int64_t{1} << 43}, std::vector<MaxMinCase::Task>(4096, group)}) ==
        std::vector<std::int64_t>(4096, rate_one >> 29));
}
