// When parts fail.
#include "sim/fault/process.h"

#include <cmath>

#include "tests/sim/fault/models.h"

using namespace sim;
using namespace sim::fault;
using Kind = Distribution::Kind;

namespace {

int failures_until(const FailureProcess& process, double end, std::uint32_t history) {
  const std::vector<FailureProcess> processes = {process};
  Arrivals arrivals(processes, {7, history});
  int count = 0;
  double last = 0;
  for (Failure f = arrivals.next(); f.at < end; f = arrivals.next()) {
    CHECK(f.at >= last);
    CHECK(f.number == static_cast<std::uint64_t>(count));
    last = f.at;
    ++count;
  }
  return count;
}

double mean_failures(const FailureProcess& process, double end, int histories) {
  double sum = 0;
  for (int h = 0; h < histories; ++h) {
    sum += failures_until(process, end, static_cast<std::uint32_t>(h));
  }
  return sum / histories;
}

FailureProcess process_of(std::int64_t parts, const Life& life) {
  FailureProcess process;
  process.parts = parts;
  process.life = life;
  return process;
}

}  // namespace

TEST_CASE("failures: parts without memory fail N r t times, as a Poisson process") {
  // 2048 hosts, 6.5 failures in 1000 host-days: 13.312 a day, one in 1.803 h.
  const Life life{Distribution::exponential(Seconds(86400 / 6.5e-3)), 0, {}};
  const FailureProcess process = process_of(2048, life);
  CHECK(rate({process}, Planned::left_out) * 3600 == doctest::Approx(1 / 1.803).epsilon(1e-3));
  const int histories = 400;
  double sum = 0, squares = 0;
  for (std::uint32_t h = 0; h < histories; ++h) {
    const double count = failures_until(process, 86400, h);
    sum += count;
    squares += count * count;
  }
  const double mean_count = sum / histories,
               variance = squares / histories - mean_count * mean_count;
  // Standard error of the mean sqrt(13.3 / 400) = 0.18, of the variance about 13.3 sqrt(2 / 400) =
  // 0.96: within four of each.
  CHECK(std::abs(mean_count - 13.312) < 0.73);
  CHECK(std::abs(variance - 13.312) < 3.9);
}

TEST_CASE("failures: parts with k = 1 fail as those without memory") {
  // 50 parts, 8 mean lives: 400 failures; the error of the mean over 100 is 2.
  const Life weibull{{Kind::weibull, Seconds(10), 1, {}}, 0, {}};
  CHECK(std::abs(mean_failures(process_of(50, weibull), 80, 100) - 400) < 8);
}

TEST_CASE("failures: many new parts of Weibull lives fail N (t / scale)^k times at first") {
  // 100,000 parts, (0.0001)^0.5 = 0.01: 1,000 (and 5 of replaced ones); error of the mean of 40: 5.
  const Life weibull{{Kind::weibull, Seconds(1), 0.5, {}}, 0, {}};
  CHECK(std::abs(mean_failures(process_of(100'000, weibull), 1e-4, 40) - 1005) < 20);
  // Parts of age 1: half the rate of then, 100,000 * (sqrt(1.01) - 1) = 498.8, and replaced ones.
  FailureProcess old = process_of(100'000, weibull);
  old.age = Seconds(1);
  CHECK(mean_failures(old, 1e-2, 40) > 498.8 - 15);
  CHECK(mean_failures(old, 1e-2, 40) < 498.8 * 1.08 + 15);
}

TEST_CASE("failures: infant mortality adds extra x decay / mean failures of new parts") {
  // 1,000 parts, mean 1,000 s, until 100 s: 100 failures of old ones and, with extra 3 and decay
  // 5 s, 1,000 * 3 * 5 / 1,000 = 15 early ones; those of replaced parts: about 115 * 0.015 = 2.
  const Life life{Distribution::exponential(Seconds(1000)), 3, Seconds(5)};
  CHECK(std::abs(mean_failures(process_of(1000, life), 100, 400) - 116.7) < 2.5);
}

TEST_CASE("failures: maintenance comes by the calendar, beside others in order") {
  FailureProcess maintenance = process_of(1, {});
  maintenance.calendar = FailureProcess::Calendar{Seconds(5), Seconds(10)};
  const std::vector<FailureProcess> processes = {
      process_of(1, {Distribution::exponential(Seconds(3)), 0, {}}), maintenance};
  Arrivals arrivals(processes, {});
  std::vector<double> planned;
  double last = 0;
  while (last < 40) {
    const Failure failure = arrivals.next();
    CHECK(failure.at >= last);
    last = failure.at;
    if (failure.process == 1) planned.push_back(failure.at);
  }
  REQUIRE(planned.size() >= 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(planned[i] == 5 + 10.0 * static_cast<double>(i));
}
