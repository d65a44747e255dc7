// Jobs with random failures against the renewal formulas, which are exact.
//
// A cycle is dt of training and a checkpoint of w without a failure between; after a failure the
// job takes R to come back. With a mean time M between failures the wall time of a cycle is
//   e^(R/M) M (e^((dt+w)/M) - 1)   where failures meanwhile start the restart over,
//   (M + R) (e^((dt+w)/M) - 1)     where there are none meanwhile.
// Source: Daly, Future Generation Computer Systems 22 (3), 2006, 303-312.
#include <cmath>

#include "sim/fault/interval.h"
#include "tests/sim/fault/models.h"

using namespace sim;
using namespace sim::fault;

namespace {

constexpr double values[5] = {0.02, 0.06, 0.2, 0.5, 1.0};

double expected_cycle(double every, double stall, double restart, bool is_interruptible) {
  const double failures = std::expm1(every + stall);  // M = 1
  return is_interruptible ? std::exp(restart) * failures : (1 + restart) * failures;
}

// 125 points with M = 1; a history is so many cycles that it sees about thirty failures.
void check_grid(bool is_interruptible) {
  int inside = 0, points = 0;
  Rates rates = even_rates();
  const auto restarts = policy("restart");
  for (const double every : values) {
    for (const double stall : {0.002, 0.01, 0.05, 0.2, 0.5}) {
      for (const double restart : {0.01, 0.05, 0.2, 0.5, 1.0}) {
        CAPTURE(every);
        CAPTURE(stall);
        CAPTURE(restart);
        Model model = renewal_model(1, every, stall, restart);
        model.recovery.is_interruptible = is_interruptible;
        const double cycle = expected_cycle(every, stall, restart, is_interruptible);
        const int cycles = std::max(10, static_cast<int>(30 / cycle));
        // A little more, so that the last checkpoint is written.
        model.horizon.work = Seconds(cycles * every * (1 + 1e-9));
        Effort effort;
        effort.precision = 0;
        effort.histories_max = 96;
        effort.seed = static_cast<std::uint64_t>(points);
        const Estimate found = estimate(model, *restarts, rates, effort);
        CHECK(found.histories == 96);
        CHECK(found.unfinished == 0);
        const double expected = cycles * cycle;
        const double error = found.wall.mean - expected;
        CHECK(std::abs(error) < 4 * found.wall.half_width / 1.985);
        inside += std::abs(error) <= found.wall.half_width ? 1 : 0;
        ++points;
      }
    }
  }
  CHECK(points == 125);
  MESSAGE(inside, " of ", points, " inside the 95 % interval");
  CHECK(inside >= 112);
}

}  // namespace

TEST_CASE("renewal: restarts that failures interrupt, 125 points") { check_grid(true); }

TEST_CASE("renewal: restarts that nothing interrupts, 125 points") { check_grid(false); }

TEST_CASE("interval: Young and Daly by hand") {
  // 50 s, 3 h: sqrt(2 * 50 * 10800) = sqrt(1080000) = 1039.23 s. Daly: w / 2M = 50 / 21600 =
  // 0.00231481, its root 0.0481125; 1039.23 * (1 + 0.0160375 + 0.0002572) - 50 = 1006.16 s.
  CHECK(young_interval(Seconds(50), Seconds(10800)).value() ==
        doctest::Approx(1039.230).epsilon(1e-5));
  CHECK(daly_interval(Seconds(50), Seconds(10800)).value() ==
        doctest::Approx(1006.164).epsilon(1e-5));
  CHECK(daly_interval(Seconds(20), Seconds(10)) == Seconds(10));
}

TEST_CASE("interval: the one found costs at most 0.1 % more than the best by the formula") {
  Rates rates = even_rates();
  const auto restarts = policy("restart");
  for (const double stall : {0.002, 0.05}) {
    for (const double restart : {0.02, 0.2}) {
      CAPTURE(stall);
      CAPTURE(restart);
      Model model = renewal_model(1, 0.1, stall, restart);
      model.horizon.duration = Seconds(200);
      const auto stretch = [&](double every) {
        return expected_cycle(every, stall, restart, true) / every;
      };
      double best = 1e300;
      for (double every = 0.005; every < 2; every *= 1.0005) best = std::min(best, stretch(every));
      const auto found = best_interval(model, *restarts, rates,
                                       young_interval(Seconds(stall), Seconds(1)), 150, {});
      REQUIRE(found);
      CHECK(stretch(found->every.value()) < best * 1.001);
    }
  }
}

TEST_CASE("interval: without failures there is none") {
  Rates rates = even_rates();
  Model model = renewal_model(1, 0.1, 0.01, 0.1);
  model.horizon.duration = Seconds(10);
  CHECK_FALSE(best_interval(model, *policy("ignore"), rates, Seconds(0.1), 2, {}));
}

TEST_CASE("ETTR: Meta's first-order formula where failures are few") {
  // (1 - N r (u0 + dt / 2)) / (1 + w / dt), N r = 1.
  // Source: Kokolis et al., HPCA 2025, arXiv:2410.21680.
  Rates rates = even_rates();
  const auto restarts = policy("restart");
  int points = 0;
  for (const double restart : {0.001, 0.005, 0.02}) {
    for (const double every : {0.01, 0.03, 0.05}) {
      const double first_order = restart + every / 2;
      if (first_order >= 0.05) continue;
      CAPTURE(restart);
      CAPTURE(every);
      const double stall = every / 50;
      Model model = renewal_model(1, every, stall, restart);
      model.horizon.duration = Seconds(300);
      Effort effort;
      effort.precision = 0.0005;
      const Estimate found = estimate(model, *restarts, rates, effort);
      CHECK(found.is_precise);
      CHECK(found.ratio.mean ==
            doctest::Approx((1 - first_order) / (1 + stall / every)).epsilon(0.01));
      ++points;
    }
  }
  CHECK(points == 9);
}
