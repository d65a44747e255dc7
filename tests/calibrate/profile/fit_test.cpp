// Fitting: known parameters come back from times they made; everything repeats to the bit.
#include <doctest/doctest.h>

#include <cmath>

#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fit_process.h"
#include "calibrate/profile/fitted_profile.h"
#include "tests/approximately.h"
#include "tests/calibrate/profile/sample_data.h"

using namespace calibrate::profile;
using sim::approximately;

namespace {

GemmModel machine() {
  GemmModel model = plain_gemm();
  model.tile.launch = 2e-6;
  model.tile.wave = 1e-6;
  model.tile.compute = 0.8;
  model.tile.load = 80e9;
  model.tile.memory = 0.8;
  model.tile.quantisation = 0.7;
  model.tile.split = 3e-6;
  model.tile.softness = 0.03;
  return model;
}

std::vector<GemmSample> samples(const GemmModel& model, std::size_t first, std::size_t count) {
  std::vector<GemmSample> result;
  for (std::size_t i = first; i < first + count; ++i) {
    const auto size = [&](std::size_t d) { return std::round(256 * std::pow(64, halton(i, d))); };
    const GemmShape shape{size(0), size(1), size(2), 1};
    result.push_back({shape, burst_seconds(model, shape)});
  }
  return result;
}

}  // namespace

TEST_CASE("fit: a machine that follows the tile form is found again") {
  const GemmModel truth = machine();
  const GemmModel fitted = fit_gemm(Precision::bf16, truth.hardware, samples(truth, 0, 80), false);
  std::vector<Residual> residuals;
  for (const GemmSample& sample : samples(truth, 1000, 60)) {
    residuals.push_back(
        {sample.shape.flops(), burst_seconds(fitted, sample.shape) / sample.seconds - 1});
  }
  const FitReport report = report_of("", "", 80, residuals);
  CHECK(report.mape < 0.015);
  const GemmModel again = fit_gemm(Precision::bf16, truth.hardware, samples(truth, 0, 80), false);
  CHECK(again.tile.factor == fitted.tile.factor);
  CHECK(again.residual.weights == fitted.residual.weights);
}

TEST_CASE("fit: a smooth correction is followed between its points") {
  std::vector<std::vector<double>> features;
  std::vector<double> values;
  for (int i = 0; i <= 40; ++i) {
    features.push_back({i * 0.1});
    values.push_back(0.1 * std::sin(i * 0.1 * 2));
  }
  const GaussianProcess process = fit_process(features, values);
  for (double x = 0.25; x < 4; x += 0.5) {
    CAPTURE(x);
    CHECK(std::abs(process.mean(std::vector<double>{x}) - 0.1 * std::sin(2 * x)) < 0.005);
  }
}

TEST_CASE("fit: intervals are conformal quantiles by class") {
  // Class one: errors 1..9 %, rank ceil(0.8 * 10) = 8: 8 %. Class two has 2 points, too few: all
  // 11, rank ceil(0.8 * 12) = 10 of 1..9, 20, 30: 20 %.
  std::vector<Residual> residuals{{100, 0.2}, {100, -0.3}};
  for (int i = 1; i <= 9; ++i) residuals.push_back({1, (i % 2 ? 1 : -1) * 0.01 * i});
  const Interval interval = interval_of({10}, residuals);
  CHECK(interval.at(1) == approximately(0.08));
  CHECK(interval.at(100) == approximately(0.2));
  CHECK(median({4, 1, 3, 2}) == approximately(2.5));
  // Halton in base 2: 1/2, 1/4, 3/4; in base 3: 1/3.
  CHECK(halton(0, 0) == approximately(0.5));
  CHECK(halton(1, 0) == approximately(0.25));
  CHECK(halton(2, 0) == approximately(0.75));
  CHECK(halton(0, 1) == approximately(1.0 / 3));
}

TEST_CASE("fit: a device without public measurements is refused with the known ones") {
  CHECK(public_device("tpu-v5p") == nullptr);
  CHECK(public_device_names().size() == 5);
}
