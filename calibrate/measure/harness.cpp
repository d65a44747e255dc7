// When to measure what, and what to believe.
#include "calibrate/measure/harness.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/invariant.h"
#include "sim/base/random.h"

namespace calibrate::measure {
namespace {

// A MAD times this is the standard deviation of a normal distribution.
constexpr double sigmas_per_mad = 1.4826;
// Samples that are all but equal have a MAD of nothing: this much off is never an outlier.
constexpr double outlier_least = 0.02;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double deviation_of(const std::vector<double>& values, double median) {
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - median));
  return median_of(std::move(deviations));
}

// Fisher and Yates, with draws that depend on seed and round alone.
std::vector<std::size_t> shuffled(std::vector<std::size_t> order, std::uint64_t seed,
                                  std::uint32_t round) {
  for (std::size_t i = order.size(); i > 1; --i) {
    const auto draw =
        sim::philox({static_cast<std::uint32_t>(i), round, 0, 0},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    std::swap(order[i - 1], order[draw[0] % i]);
  }
  return order;
}

class Run {
 public:
  Run(std::size_t case_count, const Settings& settings, const Machine& machine)
      : settings_(settings),
        machine_(machine),
        samples_(case_count),
        executions_(case_count, 1),
        started_at_(machine.now()) {}

  Outcome outcome();

 private:
  struct Reference {
    double at, seconds;
    std::size_t which;
  };

  bool is_over() {
    was_stopped_ = was_stopped_ || machine_.is_stopped();
    return was_stopped_ || machine_.now() - started_at_ >= settings_.budget;
  }
  void progress() {
    const double by_time = (machine_.now() - started_at_) / settings_.budget;
    const double by_count =
        static_cast<double>(done_) /
        static_cast<double>(samples_.size() * static_cast<std::size_t>(settings_.rounds));
    machine_.progress(std::min(1.0, std::max(by_time, by_count)));
  }
  void size_batch(std::size_t which);
  void sample(std::size_t which);
  void references();
  void round(const std::vector<std::size_t>& cases, std::uint32_t number);
  std::vector<std::size_t> noisy() const;
  void add_drift(Outcome& outcome) const;
  void add_repeatability(Outcome& outcome) const;

  const Settings& settings_;
  const Machine& machine_;
  std::vector<std::vector<double>> samples_;
  std::vector<std::size_t> executions_;
  std::vector<Reference> seen_;
  double started_at_, references_at_ = -1e300;
  std::size_t done_ = 0;
  bool was_stopped_ = false;
};

// The first execution pays for pages and caches; a short one says little about its own length.
void Run::size_batch(std::size_t which) {
  constexpr int tries = 6;
  std::size_t count = 1;
  machine_.run(which, 1);
  for (int i = 0; i < tries; ++i) {
    const double seconds = machine_.run(which, count);
    if (seconds >= settings_.batch_least) break;
    const double wanted = 1.1 * settings_.batch_least / std::max(seconds, 1e-9);
    count =
        static_cast<std::size_t>(std::ceil(static_cast<double>(count) * std::min(wanted, 1000.0)));
  }
  executions_[which] = count;
}

void Run::sample(std::size_t which) {
  const std::size_t count = executions_[which];
  const double seconds = machine_.run(which, count) / static_cast<double>(count);
  // A clock that does not move measures nothing.
  if (seconds <= 0) return;
  samples_[which].push_back(seconds);
  ++done_;
}

void Run::references() {
  if (machine_.now() - references_at_ < settings_.reference_every) return;
  references_at_ = machine_.now();
  for (const std::size_t which : settings_.references) {
    if (is_over()) return;
    const std::size_t before = samples_[which].size();
    sample(which);
    if (samples_[which].size() > before) {
      seen_.push_back({machine_.now() - started_at_, samples_[which].back(), which});
    }
  }
}

void Run::round(const std::vector<std::size_t>& cases, std::uint32_t number) {
  for (const std::size_t which : shuffled(cases, settings_.seed, number)) {
    if (is_over()) return;
    references();
    if (is_over()) return;
    sample(which);
    progress();
  }
}

std::vector<std::size_t> Run::noisy() const {
  std::vector<std::size_t> cases;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (samples_[i].empty()) continue;
    if (summarised(samples_[i], settings_.outlier_deviations).noise > settings_.noise_most) {
      cases.push_back(i);
    }
  }
  return cases;
}

// Least squares of log time over time, each reference about its own mean.
void Run::add_drift(Outcome& outcome) const {
  double xx = 0, xy = 0, last = 0;
  for (const std::size_t which : settings_.references) {
    double x_mean = 0, y_mean = 0, count = 0;
    for (const Reference& one : seen_) {
      if (one.which != which) continue;
      x_mean += one.at;
      y_mean += std::log(one.seconds);
      ++count;
    }
    for (const Reference& one : seen_) {
      if (one.which != which) continue;
      const double x = one.at - x_mean / count;
      xx += x * x;
      xy += x * (std::log(one.seconds) - y_mean / count);
      last = std::max(last, one.at);
    }
  }
  if (xx <= 0) return;
  outcome.drift_per_minute = std::expm1(60 * xy / xx);
  outcome.drift = std::expm1(last * xy / xx);
}

void Run::add_repeatability(Outcome& outcome) const {
  std::vector<double> ratios;
  for (const std::vector<double>& one : samples_) {
    if (one.size() > 1) ratios.push_back(std::abs(std::log(one[1] / one[0])));
  }
  if (!ratios.empty()) outcome.repeatability = median_of(std::move(ratios));
}

Outcome Run::outcome() {
  std::vector<std::size_t> all(samples_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const std::size_t which : shuffled(all, settings_.seed, 0)) {
    if (is_over()) break;
    size_batch(which);
    sample(which);
    progress();
  }
  for (int i = 1; i < settings_.rounds && !is_over(); ++i) {
    round(all, static_cast<std::uint32_t>(i));
  }
  for (int i = 0; i < settings_.extra_rounds && !is_over(); ++i) {
    round(noisy(), static_cast<std::uint32_t>(settings_.rounds + i));
  }
  Outcome outcome;
  outcome.is_complete = true;
  for (const std::vector<double>& one : samples_) {
    outcome.is_complete =
        outcome.is_complete && one.size() >= static_cast<std::size_t>(settings_.rounds);
    outcome.cases.push_back(one.empty() ? Samples{}
                                        : summarised(one, settings_.outlier_deviations));
  }
  outcome.noisy_cases = noisy().size();
  outcome.was_stopped = was_stopped_;
  add_drift(outcome);
  add_repeatability(outcome);
  return outcome;
}

}  // namespace

Samples summarised(std::vector<double> seconds, double outlier_deviations) {
  sim::invariant(!seconds.empty(), "a case that is summed up has samples");
  const double rough = median_of(seconds);
  const double limit = std::max(outlier_deviations * sigmas_per_mad * deviation_of(seconds, rough),
                                outlier_least * rough);
  std::vector<double> kept;
  for (const double value : seconds) {
    if (std::abs(value - rough) <= limit) kept.push_back(value);
  }
  Samples samples;
  samples.median = median_of(kept);
  samples.least = *std::min_element(seconds.begin(), seconds.end());
  samples.noise = deviation_of(kept, samples.median) / samples.median;
  samples.outliers = seconds.size() - kept.size();
  samples.seconds = std::move(seconds);
  return samples;
}

Outcome measure(std::size_t case_count, const Settings& settings, const Machine& machine) {
  return Run(case_count, settings, machine).outcome();
}

}  // namespace calibrate::measure
