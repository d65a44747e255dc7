// Memory-bound operators from public tables of streaming kernels.
#include <ceres/ceres.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"

namespace calibrate::profile {
namespace {

struct Sample {
  double bytes, seconds;
};

std::vector<Sample> samples_of(const std::filesystem::path& file, const std::string& device) {
  const Table table(file);
  const std::size_t name = table.column("device"), mode = table.column("launch_mode"),
                    bytes = table.column("bytes_moved_per_kernel"),
                    time = table.column("implied_time_us");
  std::vector<Sample> samples;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, name) != device || table.text(row, mode) != "graph") continue;
    samples.push_back(
        {table.number(row, bytes).value_or(0), table.number(row, time).value_or(0) * 1e-6});
  }
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.bytes < b.bytes; });
  return samples;
}

MemoryCurve<double> curve_of(const double* logs) {
  return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]), std::exp(logs[3]),
          std::exp(logs[4])};
}

struct TimeError {
  Sample sample;
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

MemoryCurve<double> fit(const std::vector<Sample>& chosen) {
  MemoryCurve<double> best;
  double least = INFINITY;
  for (const double knee : {3e6, 40e6}) {
    std::array<double, 5> logs{std::log(1.3e-6), std::log(5e12), std::log(2e12), std::log(knee),
                               std::log(2.0)};
    ceres::Problem problem;
    for (const Sample& sample : chosen) {
      problem.AddResidualBlock(
          new ceres::AutoDiffCostFunction<TimeError, 1, 5>(new TimeError{sample}),
          new ceres::SoftLOneLoss(0.05), logs.data());
    }
    problem.SetParameterUpperBound(logs.data(), 4, std::log(8.0));
    ceres::Solver::Options options;
    options.linear_solver_type = ceres::DENSE_QR;
    options.max_num_iterations = 200;
    options.num_threads = 1;
    options.logging_type = ceres::SILENT;
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    if (summary.final_cost < least) best = curve_of(logs.data());
    least = std::min(least, summary.final_cost);
  }
  return best;
}

// A device without streaming measurements takes the curve of a relative with rates of its own.
struct Relative {
  const char* device;  // in the table
  double memory_rate;  // [byte/s], replaces the fitted one when above 0
  double cache_factor, knee_factor;
  double half_width;  // relative, least
  const char* source;
};

Relative relative_of(const PublicDevice& device) {
  if (device.name == "a100-sxm-80gb") return {"a100_80", 0, 1, 1, 0, "gpu-benches small kernels"};
  if (device.name == "h200-sxm") return {"h200", 0, 1, 1, 0, "gpu-benches small kernels"};
  if (device.name == "h100-sxm") {
    return {"h200",
            0.92 * device.memory_rate,
            1,
            1,
            0.08,
            "curve of H200 (gpu-benches small kernels), same L2; memory at 0.92 of the datasheet: "
            "vidur times the addition of two bf16 tensors (201 MB in all) at 63 us = 3.2 TB/s"};
  }
  return {"h200",
          0.8 * device.memory_rate,
          device.multiprocessors / 132,
          device.l2 / 50e6,
          0.2,
          "assumed: curve of H200 (gpu-benches small kernels) scaled to the L2; memory at 0.8 of "
          "the datasheet, between H200 (0.71) and H100 (0.92)"};
}

}  // namespace

void add_memory(ProfileData& data, const PublicDevice& device,
                const std::filesystem::path& folder) {
  const Relative relative = relative_of(device);
  const std::vector<Sample> samples =
      samples_of(folder / "memory" / "small_kernel_overhead_gpubenches.csv", relative.device);
  std::vector<Sample> chosen;
  std::vector<Residual> held_out;
  for (std::size_t i = 0; i < samples.size(); i += 2) chosen.push_back(samples[i]);
  MemoryModel& model = data.memory;
  model.curve = fit(chosen);
  for (std::size_t i = 1; i < samples.size(); i += 2) {
    held_out.push_back(
        {samples[i].bytes, memory_time(model.curve, samples[i].bytes) / samples[i].seconds - 1});
  }
  model.source = relative.source;
  model.bytes_most = samples.back().bytes;
  model.interval = interval_of({1e7, 1e8}, held_out);
  for (double& width : model.interval.half_widths) width = std::max(width, relative.half_width);
  if (relative.memory_rate > 0) model.curve.memory = relative.memory_rate;
  model.curve.cache *= relative.cache_factor;
  model.curve.knee *= relative.knee_factor;
  const std::string family =
      relative.half_width > 0 ? fmt::format("memory, on {}", relative.device) : "memory";
  data.reports.push_back(report_of(family, model.source, chosen.size(), held_out));
}

}  // namespace calibrate::profile
