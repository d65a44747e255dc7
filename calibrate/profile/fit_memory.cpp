// Fitting the curve of operators that only move bytes.
#include <ceres/ceres.h>

#include <array>
#include <cmath>

#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/least_squares.h"

namespace calibrate::profile {
namespace {

MemoryCurve<double> curve_of(const double* logs) {
  return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]), std::exp(logs[3]),
          std::exp(logs[4])};
}

struct TimeError {
  MemorySample sample;
  template <class T>
  bool operator()(const T* logs, T* residual) const {
    using std::exp;
    using std::log;
    const MemoryCurve<T> curve{exp(logs[0]), exp(logs[1]), exp(logs[2]), exp(logs[3]),
                               exp(logs[4])};
    residual[0] = log(memory_time(curve, sample.bytes)) - std::log(sample.seconds);
    return true;
  }
};

}  // namespace

MemoryCurve<double> fit_memory_curve(const std::vector<MemorySample>& chosen,
                                     const std::vector<MemoryCurve<double>>& starts) {
  MemoryCurve<double> best;
  double least = INFINITY;
  for (const MemoryCurve<double>& start : starts) {
    std::array<double, 5> logs{std::log(start.latency), std::log(start.cache),
                               std::log(start.memory), std::log(start.knee),
                               std::log(start.steepness)};
    ceres::Problem problem;
    for (const MemorySample& sample : chosen) {
      problem.AddResidualBlock(
          new ceres::AutoDiffCostFunction<TimeError, 1, 5>(new TimeError{sample}),
          new ceres::SoftLOneLoss(0.05), logs.data());
    }
    // Few samples leave some constants open: not more than a factor of 400 from where they start.
    for (int i = 0; i < 4; ++i) {
      const double start_log = logs[static_cast<std::size_t>(i)];
      problem.SetParameterLowerBound(logs.data(), i, start_log - 6);
      problem.SetParameterUpperBound(logs.data(), i, start_log + 6);
    }
    problem.SetParameterLowerBound(logs.data(), 4, std::log(0.3));
    problem.SetParameterUpperBound(logs.data(), 4, std::log(8.0));
    ceres::Solver::Options options = solver_options();
    options.max_num_iterations = 200;
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    if (summary.final_cost < least) best = curve_of(logs.data());
    least = std::min(least, summary.final_cost);
  }
  return best;
}

}  // namespace calibrate::profile
