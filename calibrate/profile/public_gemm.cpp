// Matrix products from public tables: which rows are fitted, which are held out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fitted_profile.h"
#include "calibrate/profile/names.h"

namespace calibrate::profile {
namespace {

constexpr double size_least = 64;       // of every dimension: smaller ones do not occur in training
constexpr double training_least = 256;  // what the held-out errors are reported for
constexpr std::size_t spread_count = 110, training_count = 300, anchor_count = 50;
constexpr std::size_t tested_most = 4000;

std::vector<GemmSample> samples_of(const std::filesystem::path& file, const std::string& column) {
  const Table table(file);
  const std::size_t m = table.column("m"), n = table.column("n"), k = table.column("k"),
                    time = table.column(column);
  std::vector<GemmSample> samples;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto seconds = table.number(row, time);
    const GemmShape shape{table.number(row, m).value_or(0), table.number(row, n).value_or(0),
                          table.number(row, k).value_or(0), 1};
    if (!seconds || *seconds <= 0 || std::min({shape.m, shape.n, shape.k}) < size_least) continue;
    samples.push_back({shape, *seconds * 1e-6});
  }
  return samples;
}

bool is_training(const GemmShape& shape) {
  return std::min({shape.m, shape.n, shape.k}) >= training_least;
}

// Marks the unused row nearest to a point of log space.
void take_nearest(const std::vector<GemmSample>& samples, std::vector<char>& used,
                  const std::array<double, 3>& wanted, double least, double flops_least) {
  double best = INFINITY;
  std::size_t chosen = samples.size();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const GemmShape& shape = samples[i].shape;
    if (used[i] || std::min({shape.m, shape.n, shape.k}) < least || shape.flops() < flops_least) {
      continue;
    }
    const double distance = std::pow(std::log(shape.m) - wanted[0], 2) +
                            std::pow(std::log(shape.n) - wanted[1], 2) +
                            std::pow(std::log(shape.k) - wanted[2], 2);
    if (distance < best) {
      best = distance;
      chosen = i;
    }
  }
  if (chosen < samples.size()) used[chosen] = 1;
}

// Evenly spread in log space: over training shapes, over all shapes, and anchors above 1 TFLOP.
std::vector<char> choose(const std::vector<GemmSample>& samples) {
  std::vector<char> used(samples.size());
  double most = 0;
  for (const GemmSample& sample : samples) {
    most = std::max({most, sample.shape.m, sample.shape.n, sample.shape.k});
  }
  const auto take = [&](std::size_t count, double least, double flops_least) {
    for (std::size_t i = 0; i < count; ++i) {
      std::array<double, 3> wanted{};
      for (std::size_t d = 0; d < 3; ++d) {
        wanted[d] = std::log(least) + halton(i, d) * std::log(most / least);
      }
      take_nearest(samples, used, wanted, least, flops_least);
    }
  };
  take(training_count, training_least, 0);
  take(anchor_count, training_least, 1e12);
  take(spread_count, size_least, 0);
  return used;
}

void set_box(GemmModel& model, const std::vector<GemmSample>& samples) {
  const GemmShape& first = samples.front().shape;
  model.m = {first.m, first.m};
  model.n = {first.n, first.n};
  model.k = {first.k, first.k};
  const auto widen = [](Range& range, double value) {
    range.least = std::min(range.least, value);
    range.most = std::max(range.most, value);
  };
  for (const GemmSample& sample : samples) {
    widen(model.m, sample.shape.m);
    widen(model.n, sample.shape.n);
    widen(model.k, sample.shape.k);
    model.flops_most = std::max(model.flops_most, sample.shape.flops());
  }
}

void add_one(ProfileData& data, Precision precision, const GemmHardware& hardware,
             const std::filesystem::path& file, const std::string& column, bool converts_input) {
  const std::vector<GemmSample> samples = samples_of(file, column);
  const std::vector<char> used = choose(samples);
  std::vector<GemmSample> chosen, rest;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (used[i]) {
      chosen.push_back(samples[i]);
    } else if (is_training(samples[i].shape)) {
      rest.push_back(samples[i]);
    }
  }
  GemmModel model = fit_gemm(precision, hardware, chosen, converts_input);
  set_box(model, samples);
  model.source = fmt::format("aiconfigurator, {}, {}", file.filename().string(), column);
  // Intervals from one half of the rows held out, errors from the other half.
  std::vector<Residual> calibration, test;
  const std::size_t stride = std::max<std::size_t>(1, rest.size() / (2 * tested_most));
  for (std::size_t i = 0; i < rest.size(); i += stride) {
    const double error = burst_seconds(model, rest[i].shape) / rest[i].seconds - 1;
    (i / stride % 2 == 0 ? calibration : test).push_back({rest[i].shape.flops(), error});
  }
  model.interval = interval_of({1e10, 1e11, 1e12}, calibration);
  std::vector<Residual> large;
  std::copy_if(test.begin(), test.end(), std::back_inserter(large),
               [](const Residual& residual) { return residual.size > 1e11; });
  const std::string family = fmt::format("gemm {} forward", name(precision));
  data.reports.push_back(report_of(family, model.source, chosen.size(), test));
  data.reports.push_back(report_of(family + ", > 100 GFLOP", model.source, chosen.size(), large));
  data.gemm.push_back(std::move(model));
}

}  // namespace

void add_gemm(ProfileData& data, const PublicDevice& device, const std::filesystem::path& folder) {
  GemmHardware hardware{device.peak_bf16, device.memory_rate, device.multiprocessors, 2};
  add_one(data, Precision::bf16, hardware, folder / "gemm" / device.gemm_file, device.gemm_column,
          false);
  if (device.fp8_column.empty()) return;
  hardware.peak = device.peak_fp8;
  hardware.element = 1;
  add_one(data, Precision::fp8, hardware, folder / "gemm" / "gemm_fp8_aiconfigurator_wide.csv",
          device.fp8_column, true);
}

}  // namespace calibrate::profile
