// Fitting attention: the tile by least squares on log time, then the correction.
#include <ceres/ceres.h>

#include <algorithm>
#include <cmath>

#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fit_process.h"
#include "calibrate/profile/fitted_profile.h"
#include "calibrate/profile/least_squares.h"

namespace calibrate::profile {
namespace {

struct TimeError {
  const AttentionModel* model;
  AttentionSample sample;
  template <class T>
  bool operator()(const T* logs, T* residual) const {
    using std::exp;
    using std::log;
    const AttentionTile<T> tile{exp(logs[0]), exp(logs[1]), exp(logs[2]), exp(logs[3]),
                                exp(logs[4])};
    residual[0] = log(attention_time(tile, model->peak, model->memory_rate, model->multiprocessors,
                                     sample.shape)) -
                  std::log(sample.seconds);
    return true;
  }
};

void fit_tile(AttentionModel& model, const std::vector<AttentionSample>& chosen) {
  std::array<double, 5> logs{std::log(3e-6), std::log(1e-6), std::log(0.6), std::log(0.3),
                             std::log(0.8)};
  ceres::Problem problem;
  for (const AttentionSample& sample : chosen) {
    problem.AddResidualBlock(
        new ceres::AutoDiffCostFunction<TimeError, 1, 5>(new TimeError{&model, sample}),
        new ceres::SoftLOneLoss(0.1), logs.data());
  }
  const double least[] = {std::log(1e-7), std::log(1e-8), std::log(0.05), std::log(0.01),
                          std::log(0.1)};
  const double most[] = {std::log(1e-4), std::log(1e-4), 0, 0, std::log(2.0)};
  for (int i = 0; i < 5; ++i) {
    problem.SetParameterLowerBound(logs.data(), i, least[i]);
    problem.SetParameterUpperBound(logs.data(), i, most[i]);
  }
  ceres::Solver::Summary summary;
  ceres::Solve(solver_options(), &problem, &summary);
  model.tile = {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]), std::exp(logs[3]),
                std::exp(logs[4])};
}

void fit_correction(AttentionModel& model, const std::vector<AttentionSample>& chosen) {
  std::vector<std::vector<double>> features;
  std::vector<double> residuals;
  for (const AttentionSample& sample : chosen) {
    const auto row = attention_features(sample.shape);
    features.emplace_back(row.begin(), row.end());
    residuals.push_back(std::log(sample.seconds) -
                        std::log(attention_time(model.tile, model.peak, model.memory_rate,
                                                model.multiprocessors, sample.shape)));
  }
  model.residual = fit_process(features, residuals);
}

void widen(Range& range, double value) {
  range.least = range.least == 0 ? value : std::min(range.least, value);
  range.most = std::max(range.most, value);
}

}  // namespace

void fit_attention(AttentionModel& model, const std::vector<AttentionSample>& chosen) {
  fit_tile(model, chosen);
  fit_correction(model, chosen);
}

void set_limits(AttentionModel& model, const std::vector<AttentionSample>& samples) {
  for (const AttentionSample& sample : samples) {
    widen(model.length, sample.shape.queries);
    widen(model.blocks, sample.shape.sequences * sample.shape.heads);
  }
}

}  // namespace calibrate::profile
