// Attention from public tables: one fit per head size.
#include <ceres/ceres.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fit_process.h"
#include "calibrate/profile/fitted_profile.h"
#include "calibrate/profile/names.h"

namespace calibrate::profile {
namespace {

constexpr std::size_t fitted_most = 400;

struct Sample {
  AttentionShape shape;
  double seconds;
};

std::vector<Sample> samples_of(const Table& table, const std::string& system, double head_size) {
  const std::size_t system_column = table.column("system"), batch = table.column("batch_size"),
                    length = table.column("isl"), heads = table.column("num_heads"),
                    kv_heads = table.column("num_key_value_heads"), head = table.column("head_dim"),
                    time = table.column("time_us");
  std::vector<Sample> samples;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, system_column) != system || table.number(row, head) != head_size) continue;
    const auto whole = [&](std::size_t column) {
      return static_cast<std::int64_t>(table.number(row, column).value_or(0));
    };
    AttentionQuestion question;
    question.sequences = whole(batch);
    question.query_heads = whole(heads);
    question.kv_heads = whole(kv_heads);
    question.query_length = question.key_length = whole(length);
    question.head_size = static_cast<std::int64_t>(head_size);
    samples.push_back({attention_shape(question), table.number(row, time).value_or(0) * 1e-6});
  }
  return samples;
}

struct TimeError {
  const AttentionModel* model;
  Sample sample;
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

void fit_tile(AttentionModel& model, const std::vector<Sample>& chosen) {
  std::array<double, 5> logs{std::log(3e-6), std::log(1e-6), std::log(0.6), std::log(0.3),
                             std::log(0.8)};
  ceres::Problem problem;
  for (const Sample& sample : chosen) {
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
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.num_threads = 1;
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  model.tile = {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]), std::exp(logs[3]),
                std::exp(logs[4])};
}

void fit_correction(AttentionModel& model, const std::vector<Sample>& chosen) {
  std::vector<std::vector<double>> features;
  std::vector<double> residuals;
  for (const Sample& sample : chosen) {
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

void add_attention(ProfileData& data, const PublicDevice& device,
                   const std::filesystem::path& folder) {
  const std::string file = "context_attention_bf16_aiconfigurator.csv";
  const Table table(folder / "attention" / file);
  for (const double head_size : {64.0, 128.0}) {
    const std::vector<Sample> samples = samples_of(table, device.system, head_size);
    if (samples.empty()) continue;
    std::vector<Sample> chosen;
    std::vector<Sample> rest;
    // A fixed scatter over the rows: those with the smallest golden-ratio fraction of their number.
    const double share = static_cast<double>(fitted_most) / static_cast<double>(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double fraction = std::fmod(static_cast<double>(i + 1) * 0.6180339887498949, 1.0);
      (fraction < share ? chosen : rest).push_back(samples[i]);
    }
    AttentionModel model;
    model.kernel = device.attention;
    model.head_size = head_size;
    model.peak = device.peak_bf16;
    model.memory_rate = device.memory_rate;
    model.multiprocessors = device.multiprocessors;
    model.source = "aiconfigurator, " + file + ", " + device.system;
    fit_tile(model, chosen);
    fit_correction(model, chosen);
    for (const Sample& sample : samples) {
      widen(model.length, sample.shape.queries);
      widen(model.blocks, sample.shape.sequences * sample.shape.heads);
    }
    std::vector<Residual> calibration, test, large;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const Residual residual{rest[i].shape.flops(),
                              burst_seconds(model, rest[i].shape) / rest[i].seconds - 1};
      (i % 2 == 0 ? calibration : test).push_back(residual);
      if (i % 2 != 0 && residual.size > 1e11) large.push_back(residual);
    }
    model.interval = interval_of({1e10, 1e11, 1e12}, calibration);
    const std::string family =
        fmt::format("attention {} head {} forward", name(model.kernel), head_size);
    data.reports.push_back(report_of(family, model.source, chosen.size(), test));
    data.reports.push_back(report_of(family + ", > 100 GF", model.source, chosen.size(), large));
    data.attention.push_back(std::move(model));
  }
}

}  // namespace calibrate::profile
