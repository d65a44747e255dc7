// When to measure what, and what to believe: warm-up, batches, random order, drift, noise, budget.
//
//   1. Every case runs once or a few times unrecorded, which tells how many make a batch of at
//   least
//      `batch_least`.
//   2. Rounds: all cases once, in an order drawn anew; reference cases again every
//      `reference_every`. One batch is one sample: its time over the executions in it.
//   3. Cases whose spread is above `noise_most` after that get up to `extra_rounds` more samples.
// The budget ends it, or is_stopped; what was measured is kept. Knows no kernel and no clock: both
// are given, so that tests can run it against times of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace calibrate::measure {

struct Settings {
  double budget = 60;             // [s]
  double batch_least = 0.010;     // [s]
  double reference_every = 20;    // [s]
  double noise_most = 0.02;       // MAD over median
  double outlier_deviations = 5;  // of a sample from the median, in MADs scaled to sigmas
  int rounds = 5, extra_rounds = 3;
  std::uint64_t seed = 1;
  std::vector<std::size_t> references = {};  // cases
};

struct Machine {
  // Runs a case so many times; returns the seconds that all took.
  std::function<double(std::size_t which, std::size_t executions)> run;
  std::function<double()> now;  // [s]
  std::function<bool()> is_stopped;
  // About once a batch: share of the work done, at most 1.
  std::function<void(double done)> progress;
};

// One case.
struct Samples {
  std::vector<double> seconds;  // of one execution, in the order of measuring; never thinned out
  double median = 0, least = 0;
  double noise = 0;          // MAD over median, outliers left out
  std::size_t outliers = 0;  // samples further off than outlier_deviations
};

struct Outcome {
  std::vector<Samples> cases;  // no samples: not measured before the end
  // Of the reference cases: relative change of their times per minute, and over the whole run.
  double drift_per_minute = 0, drift = 0;
  // Median of |log| of the second sample over the first, all cases.
  double repeatability = 0;
  std::size_t noisy_cases = 0;
  bool is_complete = false;  // every case has `rounds` samples
  bool was_stopped = false;
};

Outcome measure(std::size_t case_count, const Settings& settings, const Machine& machine);

// Median, spread and outliers of samples in order. REQUIRES: not empty, all above 0.
Samples summarised(std::vector<double> seconds, double outlier_deviations);

}  // namespace calibrate::measure
