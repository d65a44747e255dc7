// Patterns of stragglers as phases.
#include "sim/training/pattern.h"

#include <doctest/doctest.h>

using namespace sim;
using namespace sim::training;

namespace {

constexpr Picoseconds ms = 1'000'000'000;
constexpr Picoseconds far = 1'000'000'000'000'000;

Seconds in_ms(double value) { return Seconds(value * 1e-3); }

}  // namespace

TEST_CASE("pattern: steady, for a while -> on, then off") {
  CHECK(phases(Steady{}, 0.5, in_ms(3), in_ms(7), far) ==
        std::vector<Phase>{{3 * ms, 0.5}, {7 * ms, 1}});
  CHECK(phases(Steady{}, 0.5, in_ms(3), std::nullopt, far) == std::vector<Phase>{{3 * ms, 0.5}});
}

TEST_CASE("pattern: periodic -> as worked, and cut where it ends") {
  CHECK(phases(Periodic{in_ms(10), in_ms(2)}, 0.5, in_ms(3), in_ms(14), far) ==
        std::vector<Phase>{{3 * ms, 0.5}, {5 * ms, 1}, {13 * ms, 0.5}, {14 * ms, 1}});
}

TEST_CASE("pattern: without an end -> up to the first phase beyond the horizon, which is normal") {
  CHECK(phases(Periodic{in_ms(10), in_ms(2)}, 0.5, in_ms(0), std::nullopt, 11 * ms) ==
        std::vector<Phase>{{0, 0.5}, {2 * ms, 1}, {10 * ms, 0.5}, {12 * ms, 1}});
  CHECK(phases(Periodic{in_ms(10), in_ms(2)}, 0.5, in_ms(0), std::nullopt, 10 * ms) ==
        std::vector<Phase>{{0, 0.5}, {2 * ms, 1}, {10 * ms, 1}});
}

// From 1 to 0.5 in two steps: the line's middles are 7/8 and 5/8.
TEST_CASE("pattern: ramp -> middles of the line, then the share") {
  CHECK(phases(Ramp{in_ms(8), 2, 1}, 0.5, in_ms(1), std::nullopt, far) ==
        std::vector<Phase>{{1 * ms, 0.875}, {5 * ms, 0.625}, {9 * ms, 0.5}});
  CHECK(phases(Ramp{in_ms(8), 2, 1}, 0.5, in_ms(1), in_ms(5), far) ==
        std::vector<Phase>{{1 * ms, 0.875}, {5 * ms, 1}});
}

TEST_CASE("pattern: recorded -> its phases, later by when it begins") {
  const auto recorded =
      std::make_shared<const std::vector<Phase>>(std::vector<Phase>{{2 * ms, 0.5}, {4 * ms, 0.25}});
  CHECK(phases(recorded, 1, in_ms(1), in_ms(4), far) ==
        std::vector<Phase>{{3 * ms, 0.5}, {4 * ms, 1}});
}

// 20,000 cycles: the mean of n exponential times deviates by 1 / sqrt(n) = 0.7 % of itself.
TEST_CASE("pattern: on and off -> exponential times of the given means, anew for each key") {
  const OnOff process{in_ms(2), in_ms(6), DrawKey{7, 3, 16, 0}};
  const auto all = phases(process, 0.5, in_ms(0), std::nullopt, 160'000 * ms);
  double on = 0, squares = 0;
  std::size_t cycles = 0;
  for (std::size_t i = 0; i + 1 < all.size(); i += 2, ++cycles) {
    REQUIRE(all[i].factor == (i + 2 < all.size() ? 0.5 : all[i].factor));
    const double lasted = static_cast<double>(all[i + 1].at - all[i].at) / ms;
    on += lasted;
    squares += lasted * lasted;
  }
  const auto n = static_cast<double>(cycles);
  CHECK(n == doctest::Approx(20'000).epsilon(0.03));
  CHECK(on / n == doctest::Approx(2).epsilon(0.03));
  CHECK(squares / n == doctest::Approx(2 * 2 * 2).epsilon(0.08));  // twice the mean squared
  OnOff other = process;
  CHECK(phases(other, 0.5, in_ms(0), std::nullopt, 100 * ms) ==
        phases(process, 0.5, in_ms(0), std::nullopt, 100 * ms));
  other.key.owner = 4;
  CHECK(phases(other, 0.5, in_ms(0), std::nullopt, 100 * ms) !=
        phases(process, 0.5, in_ms(0), std::nullopt, 100 * ms));
}

TEST_CASE("pattern: a longer horizon -> the same phases, and more") {
  const OnOff process{in_ms(2), in_ms(6), DrawKey{1, 0, 16, 0}};
  const auto few = phases(process, 0.5, in_ms(0), std::nullopt, 50 * ms);
  const auto many = phases(process, 0.5, in_ms(0), std::nullopt, 500 * ms);
  REQUIRE(few.size() < many.size());
  for (std::size_t i = 0; i + 1 < few.size(); ++i) CHECK(few[i] == many[i]);
}
