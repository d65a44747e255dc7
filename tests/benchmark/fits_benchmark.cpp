// What the fits get wrong of public measurements that they have not seen, beside the targets.
//
//   fits_benchmark FOLDER: that of gemm, attention, memory, moe and nccl.
//
// Products: 400 shapes scattered evenly over those of at least 256 are fitted; the mean error that
// five-fold cross-validation of the whole fit expects (cv), what all others show (mean, p90), and
// how many of these lie within the conformal 90 % interval of their class of FLOPs. The other
// families are fitted as the shipped profiles are.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fitted_profile.h"

namespace {

using namespace calibrate::profile;

constexpr std::size_t fitted_most = 400, folds = 5, tested_most = 6000;
const std::vector<double> bounds{1e10, 1e11, 1e12};

std::vector<GemmSample> samples_of(const PublicDevice& device,
                                   const std::filesystem::path& folder) {
  const Table table(folder / "gemm" / device.gemm_file);
  const std::size_t m = table.column("m"), n = table.column("n"), k = table.column("k"),
                    time = table.column(device.gemm_column);
  std::vector<GemmSample> samples;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const GemmShape shape{table.number(row, m).value_or(0), table.number(row, n).value_or(0),
                          table.number(row, k).value_or(0), 1};
    const double seconds = table.number(row, time).value_or(0) * 1e-6;
    if (seconds <= 0 || std::min({shape.m, shape.n, shape.k}) < 256) continue;
    samples.push_back({shape, seconds});
  }
  return samples;
}

Residual residual_of(const GemmModel& model, const GemmSample& sample) {
  return {sample.shape.flops(), burst_seconds(model, sample.shape) / sample.seconds - 1};
}

std::size_t class_of(double flops) {
  return static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), flops) -
                                  bounds.begin());
}

// Share of `test` within the 90 % quantile of what cross-validation got wrong, class by class.
double coverage(const std::vector<Residual>& validated, const std::vector<Residual>& test) {
  std::vector<std::vector<double>> classes(bounds.size() + 1);
  std::vector<double> all;
  for (const Residual& one : validated) {
    classes[class_of(one.size)].push_back(std::abs(one.error));
    all.push_back(std::abs(one.error));
  }
  double within = 0;
  for (const Residual& one : test) {
    const auto& own = classes[class_of(one.size)];
    within += std::abs(one.error) <= quantile(own.size() < 8 ? all : own, 0.9) ? 1 : 0;
  }
  return within / static_cast<double>(test.size());
}

GemmModel add_row(const PublicDevice& device, const std::filesystem::path& folder) {
  const GemmHardware hardware{device.peak_bf16, device.memory_rate, device.multiprocessors, 2};
  const std::vector<GemmSample> samples = samples_of(device, folder);
  std::vector<GemmSample> chosen, rest;
  const double share = static_cast<double>(fitted_most) / static_cast<double>(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double fraction = std::fmod(static_cast<double>(i + 1) * 0.6180339887498949, 1.0);
    (fraction < share && chosen.size() < fitted_most ? chosen : rest).push_back(samples[i]);
  }
  const auto start = std::chrono::steady_clock::now();
  GemmModel model = fit_gemm(Precision::bf16, hardware, chosen, false);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<Residual> validated, test;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<GemmSample> others;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (i % folds != fold) others.push_back(chosen[i]);
    }
    const GemmModel part = fit_gemm(Precision::bf16, hardware, others, false);
    for (std::size_t i = fold; i < chosen.size(); i += folds) {
      validated.push_back(residual_of(part, chosen[i]));
    }
  }
  const std::size_t stride = std::max<std::size_t>(1, rest.size() / tested_most);
  for (std::size_t i = 0; i < rest.size(); i += stride) {
    test.push_back(residual_of(model, rest[i]));
  }
  const FitReport seen = report_of("", "", chosen.size(), test);
  const FitReport expected = report_of("", "", chosen.size(), validated);
  fmt::print(
      "{:<16}{:<44}{:>8}{:>9}{:>8.1f}{:>8.1f}  {:<9} cv {:.1f} %, 90 % interval covers "
      "{:.1f} % (88-94), {:.1f} s a fit (5)\n",
      device.name, "gemm bf16 forward", seen.samples, seen.held_out, 100 * seen.mape,
      100 * seen.p90, "6 (13)", 100 * expected.mape, 100 * coverage(validated, test), seconds);
  return model;
}

const char* target_of(const std::string& family) {
  if (family.starts_with("attention")) return "6 (14)";
  if (family.starts_with("memory")) return "3 (6)";
  if (family.starts_with("gemm") || family.starts_with("grouped") || family.starts_with("expert")) {
    return "9 (18)";
  }
  if (family.ends_with("< 64 KiB")) return "6";
  return family.ends_with(">= 16 MiB") ? "5" : "8";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path folder = arguments[1];
  if (!std::filesystem::exists(folder / "gemm")) {
    fmt::print("skipped: no measurements at {}\n", folder.string());
    return 77;
  }
  fmt::print("{:<16}{:<44}{:>8}{:>9}{:>8}{:>8}  {}\n", "device", "fit", "fitted", "held out",
             "mean", "p90", "target");
  for (const std::string& name : public_device_names()) {
    const PublicDevice& device = *public_device(name);
    ProfileData data;
    data.gemm.push_back(add_row(device, folder));
    add_attention(data, device, folder);
    add_experts(data, device, folder);
    add_memory(data, device, folder);
    add_collectives(data, device, folder);
    for (const FitReport& report : data.reports) {
      fmt::print("{:<16}{:<44}{:>8}{:>9}{:>8.1f}{:>8.1f}  {}\n", name, report.family,
                 report.samples, report.held_out, 100 * report.mape, 100 * report.p90,
                 target_of(report.family));
    }
  }
}
