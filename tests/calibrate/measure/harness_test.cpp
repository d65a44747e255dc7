// The harness against cases whose times are known and a clock that only they move.
#include "calibrate/measure/harness.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace calibrate::measure;

namespace {

// Cases of fixed times; drift and spikes on demand.
struct Pretended {
  std::vector<double> seconds;
  double now = 0, drift_per_second = 0;
  std::size_t batches = 0, stop_after = 1000000;
  std::size_t spike_every = 0;  // batches
  std::vector<std::size_t> order = {}, executions = {};

  Machine machine() {
    return {[this](std::size_t which, std::size_t count) {
              ++batches;
              double taken = seconds[which] * static_cast<double>(count);
              taken *= std::exp(drift_per_second * now);
              if (spike_every > 0 && batches % spike_every == 0) taken *= 10;
              now += taken;
              order.push_back(which);
              executions.push_back(count);
              return taken;
            },
            [this] { return now; }, [this] { return batches >= stop_after; }, [](double) {}};
  }
};

}  // namespace

TEST_CASE("summary: 1 1 1 1 9 -> median 1, one outlier, least 1, raw samples as they came") {
  const Samples samples = summarised({1, 9, 1, 1, 1}, 5);
  CHECK(samples.median == 1);
  CHECK(samples.least == 1);
  CHECK(samples.outliers == 1);
  CHECK(samples.noise == 0);
  CHECK(samples.seconds == std::vector<double>{1, 9, 1, 1, 1});
}

TEST_CASE("summary: 9 10 11 12 -> median 10.5, deviations .5 .5 1.5 1.5 -> noise 1 / 10.5") {
  const Samples samples = summarised({9, 10, 11, 12}, 5);
  CHECK(samples.median == 10.5);
  CHECK(std::abs(samples.noise - 1 / 10.5) < 1e-12);
  CHECK(samples.outliers == 0);
}

TEST_CASE("harness: five samples of each case, batches of at least 10 ms") {
  Pretended pretended{.seconds = {1e-6, 3e-3, 0.5}};
  const Outcome outcome = measure(3, {.budget = 1000}, pretended.machine());
  CHECK(outcome.is_complete);
  CHECK_FALSE(outcome.was_stopped);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(outcome.cases[i].seconds.size() == 5);
    CHECK(std::abs(outcome.cases[i].median / pretended.seconds[i] - 1) < 1e-9);
    CHECK(outcome.cases[i].noise < 1e-9);
  }
  // The last four rounds size nothing.
  for (std::size_t i = 0; i < pretended.order.size(); ++i) {
    if (i + 12 < pretended.order.size()) continue;
    const double batch =
        static_cast<double>(pretended.executions[i]) * pretended.seconds[pretended.order[i]];
    CHECK(batch >= 0.010);
  }
}

TEST_CASE("harness: the same seed gives the same order, another one another") {
  const auto order = [](std::uint64_t seed) {
    Pretended pretended{.seconds = std::vector<double>(20, 0.02)};
    measure(20, {.budget = 1000, .seed = seed}, pretended.machine());
    return pretended.order;
  };
  CHECK(order(1) == order(1));
  CHECK(order(1) != order(2));
}

TEST_CASE("harness: the budget ends it and what was measured stays") {
  // 0.1 s a batch, each case three times in the first pass (once, for the size, recorded): after
  // 2 s seven of ten cases have a sample.
  Pretended pretended{.seconds = std::vector<double>(10, 0.1)};
  const Outcome outcome = measure(10, {.budget = 2}, pretended.machine());
  CHECK_FALSE(outcome.is_complete);
  std::size_t measured = 0;
  for (const Samples& one : outcome.cases) measured += one.seconds.empty() ? 0U : 1U;
  CHECK(measured == 7);
  CHECK(pretended.now < 2.4);
}

TEST_CASE("harness: a stop keeps what was measured") {
  Pretended pretended{.seconds = std::vector<double>(10, 0.1), .stop_after = 31};
  const Outcome outcome = measure(10, {.budget = 1000}, pretended.machine());
  CHECK(outcome.was_stopped);
  std::size_t samples = 0;
  for (const Samples& one : outcome.cases) samples += one.seconds.size();
  CHECK(samples == 11);  // ten in the first pass of 30 batches, one after
}

TEST_CASE("harness: cases 1 % slower a minute -> drift of 1 % a minute") {
  Pretended pretended{.seconds = std::vector<double>(50, 0.5),
                      .drift_per_second = std::log(1.01) / 60};
  const Outcome outcome = measure(50, {.budget = 1000, .references = {0, 1}}, pretended.machine());
  CHECK(std::abs(outcome.drift_per_minute - 0.01) < 2e-4);
}

TEST_CASE("harness: every seventh batch ten times as long -> medians stay, outliers are counted") {
  Pretended pretended{.seconds = std::vector<double>(8, 0.05), .spike_every = 7};
  const Outcome outcome = measure(8, {.budget = 1000}, pretended.machine());
  std::size_t outliers = 0;
  for (const Samples& one : outcome.cases) {
    CHECK(std::abs(one.median / 0.05 - 1) < 1e-9);
    outliers += one.outliers;
  }
  CHECK(outliers > 0);
}
