// Products of experts from public tables: whole blocks, one fit a device.
#include <ceres/ceres.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fit_process.h"
#include "calibrate/profile/fitted_profile.h"
#include "calibrate/profile/least_squares.h"
#include "calibrate/profile/names.h"

namespace calibrate::profile {
namespace {

constexpr std::size_t fitted_most = 400;
constexpr double rows_least = 16;    // of a group: fewer do not occur in training
constexpr double width_least = 128;  // of an expert on a rank: narrower ones run other kernels
constexpr int constant_count = 5;
const char* const table_name = "moe_grouped_gemm_balanced_vllm.csv";

// Experts / expert groups of a rank, with their even share of the rows, inner width / tensor ranks.
std::vector<ExpertSample> samples_of(const Table& table, const PublicDevice& device) {
  const std::size_t system = table.column("system"), source = table.column("kernel_source"),
                    type = table.column("moe_dtype"), tokens = table.column("num_tokens"),
                    hidden = table.column("hidden_size"), inner = table.column("inter_size"),
                    topk = table.column("topk"), experts = table.column("num_experts"),
                    tensor = table.column("moe_tp_size"), expert = table.column("moe_ep_size"),
                    time = table.column("time_us");
  std::vector<ExpertSample> samples;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, system) != device.system || table.text(row, type) != "bfloat16" ||
        !table.text(row, source).ends_with(device.expert_kernel)) {
      continue;
    }
    const auto number = [&](std::size_t column) { return table.number(row, column).value_or(0); };
    ExpertBlock block;
    block.tokens = number(tokens);
    block.all_rows = number(tokens) * number(topk);
    block.rows = block.all_rows / number(expert);
    block.groups = number(experts) / number(expert);
    block.hidden = number(hidden);
    block.inner = number(inner) / number(tensor);
    if (block.rows / block.groups < rows_least || block.inner < width_least) continue;
    if (block.groups < 1) continue;
    samples.push_back({block, number(time) * 1e-6, number(inner)});
  }
  return samples;
}

GroupedTile<double> tile_of(const double* logs) {
  return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]), std::exp(logs[3]),
          std::exp(logs[4])};
}

struct TimeError {
  GroupedHardware hardware;
  ExpertSample sample;
  template <class T>
  bool operator()(const T* logs, T* residual) const {
    using std::exp;
    using std::log;
    const GroupedTile<T> tile{exp(logs[0]), exp(logs[1]), exp(logs[2]), exp(logs[3]), exp(logs[4])};
    residual[0] = log(block_time(tile, hardware, sample.block)) - std::log(sample.seconds);
    return true;
  }
};

void fit_tile(GroupedGemmModel& model, const std::vector<ExpertSample>& chosen) {
  std::array<double, constant_count> logs{std::log(1e-5), std::log(1e-7), std::log(1.0),
                                          std::log(0.7), std::log(0.8)};
  ceres::Problem problem;
  for (const ExpertSample& sample : chosen) {
    problem.AddResidualBlock(new ceres::AutoDiffCostFunction<TimeError, 1, constant_count>(
                                 new TimeError{model.hardware, sample}),
                             new ceres::SoftLOneLoss(0.1), logs.data());
  }
  const double least[] = {std::log(1e-7), std::log(1e-10), std::log(0.01), std::log(0.05),
                          std::log(0.1)};
  const double most[] = {std::log(1e-3), std::log(1e-5), std::log(10.0), 0, 0};
  for (int i = 0; i < constant_count; ++i) {
    problem.SetParameterLowerBound(logs.data(), i, least[i]);
    problem.SetParameterUpperBound(logs.data(), i, most[i]);
  }
  ceres::Solver::Summary summary;
  ceres::Solve(solver_options(), &problem, &summary);
  model.tile = tile_of(logs.data());
}

void fit_correction(GroupedGemmModel& model, const std::vector<ExpertSample>& chosen) {
  std::vector<std::vector<double>> features;
  std::vector<double> residuals;
  for (const ExpertSample& sample : chosen) {
    const auto row = grouped_features(sample.block);
    features.emplace_back(row.begin(), row.end());
    residuals.push_back(std::log(sample.seconds) -
                        std::log(block_time(model.tile, model.hardware, sample.block)));
  }
  model.residual = fit_process(features, residuals);
}

void widen(Range& range, double value) {
  range.least = range.least == 0 ? value : std::min(range.least, value);
  range.most = std::max(range.most, value);
}

// A fixed scatter over the rows: those with the smallest golden-ratio fraction of their number.
void scatter(const std::vector<ExpertSample>& samples, std::vector<ExpertSample>& chosen,
             std::vector<ExpertSample>& rest) {
  const double share = static_cast<double>(fitted_most) / static_cast<double>(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double fraction = std::fmod(static_cast<double>(i + 1) * 0.6180339887498949, 1.0);
    (fraction < share ? chosen : rest).push_back(samples[i]);
  }
}

Residual residual_of(const GroupedGemmModel& model, const ExpertSample& sample) {
  return {sample.block.flops(), burst_seconds(model, sample.block) / sample.seconds - 1};
}

// Errors on transformers of which nothing was fitted, one after another: what a new shape meets.
std::vector<Residual> left_out(const GroupedGemmModel& model,
                               const std::vector<ExpertSample>& chosen) {
  std::vector<std::pair<double, double>> shapes;
  for (const ExpertSample& sample : chosen) {
    shapes.emplace_back(sample.block.hidden, sample.transformer_inner);
  }
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  std::vector<Residual> residuals;
  for (const auto& [hidden, inner] : shapes) {
    std::vector<ExpertSample> others, own;
    for (const ExpertSample& sample : chosen) {
      const bool is_own = sample.block.hidden == hidden && sample.transformer_inner == inner;
      (is_own ? own : others).push_back(sample);
    }
    GroupedGemmModel fit = model;
    fit_tile(fit, others);
    fit_correction(fit, others);
    for (const ExpertSample& sample : own) residuals.push_back(residual_of(fit, sample));
  }
  return residuals;
}

}  // namespace

void add_experts(ProfileData& data, const PublicDevice& device,
                 const std::filesystem::path& folder) {
  if (device.expert_kernel.empty()) return;
  const std::vector<ExpertSample> samples = samples_of(Table(folder / "moe" / table_name), device);
  std::vector<ExpertSample> chosen, rest;
  scatter(samples, chosen, rest);
  GroupedGemmModel model;
  const GemmModel& dense = data.gemm.front();
  model.hardware = {device.peak_bf16, device.memory_rate, 2, dense.tile.launch};
  model.source =
      fmt::format("aiconfigurator, {}, {}, {}", table_name, device.system, device.expert_kernel);
  fit_tile(model, chosen);
  fit_correction(model, chosen);
  for (const ExpertSample& sample : samples) {
    const ExpertBlock& block = sample.block;
    widen(model.rows, block.rows / block.groups);
    widen(model.groups, block.groups);
    for (const double width : {block.hidden, block.inner, 2 * block.inner}) {
      widen(model.widths, width);
    }
  }
  std::vector<Residual> calibration, test, large;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Residual residual = residual_of(model, rest[i]);
    (i % 2 == 0 ? calibration : test).push_back(residual);
    if (i % 2 != 0 && residual.size > 1e11) large.push_back(residual);
  }
  model.interval = interval_of({1e10, 1e11, 1e12}, calibration);
  const std::string family = "grouped gemm bf16 forward";
  data.reports.push_back(report_of(family, model.source, chosen.size(), test));
  data.reports.push_back(report_of(family + ", > 100 GF", model.source, chosen.size(), large));
  const std::vector<Residual> unseen = left_out(model, chosen);
  data.reports.push_back(report_of(family + ", new shapes", model.source, chosen.size(), unseen));
  model.unseen_half_width = quantile(
      [&] {
        std::vector<double> sizes;
        for (const Residual& residual : unseen) sizes.push_back(std::abs(residual.error));
        return sizes;
      }(),
      0.8);
  data.grouped.push_back(std::move(model));
}

}  // namespace calibrate::profile
