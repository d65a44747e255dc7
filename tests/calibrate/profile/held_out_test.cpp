// Shipped profiles against the public tables, on rows of which fewer than one in twenty was fitted.
//
// The tables are read from the folder that MAQUETTE_DATA names, else ../shared/data beside the
// source tree; without them the tests say so and pass.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fitted_profile.h"

using namespace calibrate::profile;

namespace {

std::optional<std::filesystem::path> tables() {
  const char* named = std::getenv("MAQUETTE_DATA");
  const std::filesystem::path data =
      named ? std::filesystem::path(named)
            : std::filesystem::path(MAQUETTE_ROOT).parent_path() / "shared/data";
  if (std::filesystem::exists(data / "kernels/gemm")) return data / "kernels";
  MESSAGE("skipped: no measurements at " << data.string() << " (set MAQUETTE_DATA)");
  return std::nullopt;
}

ProfileData shipped(const std::string& name) {
  return read_profile_data(std::filesystem::path(MAQUETTE_ROOT) / "scenarios/catalog/devices" /
                           (name + ".h5"));
}

std::vector<Residual> gemm_residuals(const PublicDevice& device, const GemmModel& model,
                                     const std::filesystem::path& folder) {
  const Table table(folder / "gemm" / device.gemm_file);
  const std::size_t m = table.column("m"), n = table.column("n"), k = table.column("k"),
                    time = table.column(device.gemm_column);
  std::vector<Residual> residuals;
  std::size_t row_of_training = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const GemmShape shape{*table.number(row, m), *table.number(row, n), *table.number(row, k), 1};
    const auto measured = table.number(row, time);
    if (!measured || std::min({shape.m, shape.n, shape.k}) < 256) continue;
    if (row_of_training++ % 13 != 5) continue;
    residuals.push_back({shape.flops(), burst_seconds(model, shape) / (*measured * 1e-6) - 1});
  }
  return residuals;
}

}  // namespace

TEST_CASE("held out: products within the accepted error") {
  const auto folder = tables();
  if (!folder) return;
  for (const std::string& name : public_device_names()) {
    const ProfileData data = shipped(name);
    const FitReport report =
        report_of(name, "", 0, gemm_residuals(*public_device(name), data.gemm.front(), *folder));
    MESSAGE(fmt::format("{}: {} shapes, mean {:.1f} %, p90 {:.1f} %, bias {:+.1f} %", name,
                        report.held_out, 100 * report.mape, 100 * report.p90, 100 * report.bias));
    CAPTURE(name);
    CHECK(report.held_out > 200);
    CHECK(report.mape < 0.06);
    CHECK(report.p90 < 0.13);
    CHECK(std::abs(report.bias) < 0.02);
  }
}

TEST_CASE("held out: stated errors of attention and memory are within the accepted ones") {
  const auto folder = tables();
  if (!folder) return;
  // Fitted anew on the same split: what the file states must be what the data give.
  for (const std::string& name : public_device_names()) {
    ProfileData fresh;
    add_attention(fresh, *public_device(name), *folder);
    add_memory(fresh, *public_device(name), *folder);
    const ProfileData data = shipped(name);
    for (const FitReport& report : fresh.reports) {
      CAPTURE(name);
      CAPTURE(report.family);
      const bool is_memory = report.family.starts_with("memory");
      CHECK(report.mape < (is_memory ? 0.03 : 0.06));
      CHECK(report.p90 < (is_memory ? 0.07 : 0.14));
      const auto stated =
          std::find_if(data.reports.begin(), data.reports.end(),
                       [&](const FitReport& other) { return other.family == report.family; });
      REQUIRE(stated != data.reports.end());
      CHECK(std::abs(stated->mape - report.mape) < 1e-3);
    }
  }
}

TEST_CASE("held out: all-reduce of A100 against another cluster's measurements") {
  // vTrain's sweep of 1 MiB to 1 GiB was never fitted. Other hosts and library: 6 % over all sizes
  // at the ranks that have a curve, 10 % where the ring law stands in.
  const auto folder = tables();
  if (!folder) return;
  DeviceType device;
  device.name = "a100-sxm-80gb";
  const auto profile = profile_of(shipped(device.name), device);
  const Table table(*folder / "nccl/vtrain_allreduce_a100_v100.csv");
  for (int ranks = 2; ranks <= 8; ++ranks) {
    std::vector<Residual> residuals;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      if (table.text(row, table.column("device")) != "a100" ||
          table.number(row, table.column("n_gpus")) != ranks) {
        continue;
      }
      const double bytes = *table.number(row, table.column("size_bytes")),
                   seconds = *table.number(row, table.column("oop_time_ns")) * 1e-9;
      const CollectiveQuestion question{CollectiveKind::all_reduce, ranks, bytes};
      residuals.push_back({bytes, profile->collective(question).duration.value() / seconds - 1});
    }
    const FitReport report = report_of("", "", 0, residuals);
    MESSAGE(fmt::format("{} ranks: mean {:.1f} %, bias {:+.1f} %", ranks, 100 * report.mape,
                        100 * report.bias));
    CAPTURE(ranks);
    CHECK(report.held_out > 50);
    CHECK(report.mape < (ranks == 2 || ranks == 4 || ranks == 8 ? 0.06 : 0.1));
  }
}
