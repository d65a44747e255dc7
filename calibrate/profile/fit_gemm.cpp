// Fitting matrix products: tile constants by least squares on log time, then the correction.
#include <ceres/ceres.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fit_process.h"
#include "calibrate/profile/fitted_profile.h"
#include "calibrate/profile/least_squares.h"

namespace calibrate::profile {
namespace {

constexpr int constant_count = 9, parameter_count = constant_count + static_cast<int>(tiles.size());

// Logarithms of the nine constants, then of the tile factors.
template <class T>
GemmTile<T> tile_of(const T* logs, bool converts_input) {
  using std::exp;
  GemmTile<T> tile;
  tile.launch = exp(logs[0]);
  tile.wave = exp(logs[1]);
  tile.compute = exp(logs[2]);
  tile.load = exp(logs[3]);
  tile.quantisation = exp(logs[4]);
  tile.memory = exp(logs[5]);
  tile.split = exp(logs[6]);
  tile.softness = exp(logs[7]);
  tile.conversion = converts_input ? exp(logs[8]) : T(0);
  for (std::size_t i = 0; i < tiles.size(); ++i) tile.factor[i] = exp(logs[constant_count + i]);
  return tile;
}

struct TimeError {
  GemmHardware hardware;
  GemmSample sample;
  bool converts_input;

  template <class T>
  bool operator()(const T* logs, T* residual) const {
    using std::log;
    const GemmTile<T> tile = tile_of(logs, converts_input);
    residual[0] = log(gemm_time(tile, hardware, sample.shape)) - std::log(sample.seconds);
    return true;
  }
};

// Weak pull towards where the fit starts.
struct Prior {
  std::array<double, parameter_count> start;
  template <class T>
  bool operator()(const T* logs, T* residual) const {
    constexpr double constant_weight = 0.05, factor_weight = 0.05 / 0.08;
    for (std::size_t i = 0; i < start.size(); ++i) {
      residual[i] = (logs[i] - start[i]) * (i < constant_count ? constant_weight : factor_weight);
    }
    return true;
  }
};

using Logs = std::array<double, parameter_count>;

Logs start_of(const GemmHardware& hardware, double wave, double load) {
  Logs start{};
  start[0] = std::log(2e-6);
  start[1] = std::log(wave);
  start[2] = std::log(0.85);
  start[3] = std::log(load);
  start[4] = std::log(0.3);
  start[5] = std::log(0.85);
  start[6] = std::log(2e-6);
  start[7] = std::log(0.05);
  start[8] = std::log(4 / hardware.memory_rate);  // a read of 2 bytes, a scale pass, a write of 1
  return start;
}

// Refines `logs`; returns the final cost.
double solve(const GemmHardware& hardware, const std::vector<GemmSample>& chosen,
             bool converts_input, bool with_factors, Logs& logs) {
  ceres::Problem problem;
  for (const GemmSample& sample : chosen) {
    problem.AddResidualBlock(new ceres::AutoDiffCostFunction<TimeError, 1, parameter_count>(
                                 new TimeError{hardware, sample, converts_input}),
                             new ceres::SoftLOneLoss(0.1), logs.data());
  }
  problem.AddResidualBlock(
      new ceres::AutoDiffCostFunction<Prior, parameter_count, parameter_count>(new Prior{logs}),
      nullptr, logs.data());
  problem.SetParameterUpperBound(logs.data(), 2, 0);               // not above peak
  problem.SetParameterLowerBound(logs.data(), 4, std::log(0.01));  // quantisation within [0, 1]
  problem.SetParameterUpperBound(logs.data(), 4, 0);
  problem.SetParameterLowerBound(logs.data(), 7, std::log(0.01));
  if (!with_factors) {
    std::vector<int> fixed;
    for (int i = constant_count; i < parameter_count; ++i) fixed.push_back(i);
    problem.SetManifold(logs.data(), new ceres::SubsetManifold(parameter_count, fixed));
  }
  ceres::Solver::Options options = solver_options();
  options.max_num_iterations = with_factors ? 25 : 20;
  options.function_tolerance = 1e-5;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  return summary.final_cost;
}

}  // namespace

GemmModel fit_gemm(Precision precision, const GemmHardware& hardware,
                   const std::vector<GemmSample>& chosen, bool converts_input) {
  Logs best{};
  double least = INFINITY;
  for (const auto& [wave, load] : {std::pair{1e-6, 60e9}, std::pair{0.3e-6, 150e9}}) {
    Logs logs = start_of(hardware, wave, load);
    const double cost = solve(hardware, chosen, converts_input, false, logs);
    if (cost < least) best = logs;
    least = std::min(cost, least);
  }
  solve(hardware, chosen, converts_input, true, best);
  GemmModel model;
  model.precision = precision;
  model.hardware = hardware;
  model.tile = tile_of(best.data(), converts_input);
  std::vector<std::vector<double>> features;
  std::vector<double> residuals;
  for (const GemmSample& sample : chosen) {
    const auto row = gemm_features(sample.shape, hardware.multiprocessors);
    features.emplace_back(row.begin(), row.end());
    residuals.push_back(std::log(sample.seconds) -
                        std::log(gemm_time(model.tile, hardware, sample.shape)));
  }
  model.residual = fit_process(features, residuals);
  return model;
}

}  // namespace calibrate::profile
