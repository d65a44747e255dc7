// Products of experts: by hand, beside batched products, and against the public tables.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fitted_profile.h"
#include "tests/approximately.h"
#include "tests/calibrate/profile/sample_data.h"

using namespace calibrate::profile;
using sim::approximately;

namespace {

// 100 TFLOP/s, 1 TB/s, no overheads, no correction.
GroupedGemmModel plain_grouped() {
  GroupedGemmModel model;
  model.hardware = {100e12, 1e12, 2, 0};
  model.tile.compute = model.tile.memory = 1;
  model.residual.centre.assign(3, 0);
  model.residual.scale.assign(3, 1);
  model.rows = {16, 4096};
  model.groups = {1, 256};
  model.widths = {128, 16384};
  model.interval = flat_interval(0.1);
  model.unseen_half_width = 0.15;
  return model;
}

std::unique_ptr<Profile> plain_profile() {
  ProfileData data = plain_data();
  data.grouped = {plain_grouped()};
  return profile_of(std::move(data), round_device());
}

}  // namespace

// 8 groups of 1000 rows, 1000 x 1000: 16 GFLOP at 100 TFLOP/s = 160 us; bytes hidden.
TEST_CASE("grouped: ideal and datasheet profiles count FLOPs and bytes") {
  GroupedGemmQuestion question{.groups = 8, .rows = 8000, .n = 1000, .k = 1000};
  CHECK(ideal_profile(round_device())->grouped_gemm(question).duration.value() ==
        approximately(160e-6));
  CHECK(datasheet_profile(round_device())->grouped_gemm(question).duration.value() ==
        approximately(160e-6 / 0.7 + 2e-6));
  // One row a group: (8 * 1000 + 8 * 1e6 + 8 * 1000) * 2 B = 16.032 MB at 1 TB/s.
  question.rows = 8;
  CHECK(ideal_profile(round_device())->grouped_gemm(question).duration.value() ==
        approximately(16.032e-6));
  // Its weight gradient reads 16,000 elements and adds 8e6 of fp32: 32 kB + 64 MB.
  question.layout = Layout::weight_gradient;
  question.accumulates_fp32 = true;
  CHECK(ideal_profile(round_device())->grouped_gemm(question).duration.value() ==
        approximately(64.032e-6));
}

// 1000 rows are filled up to 1024: 2 * 8 * 1024 * 1e6 FLOP = 163.84 us; bytes 2 (8e6 + 8000 * 2000)
// = 48 us: (163.84^3 + 48^3)^(1/3) = 165.2 us.
TEST_CASE("grouped: the fitted form by hand") {
  const GroupedShape shape{8, 8000, 1000, 1000};
  CHECK(padded_rows(shape) == 8 * 1024);
  const GroupedGemmModel model = plain_grouped();
  CHECK(burst_seconds(model, shape) ==
        approximately(1e-6 * std::cbrt(std::pow(163.84, 3) + std::pow(48.0, 3)), 1e-12));
  CHECK(plain_profile()
            ->grouped_gemm({.groups = 8, .rows = 8000, .n = 1000, .k = 1000})
            .duration.value() == approximately(burst_seconds(model, shape), 1e-12));
  // A block is gate and up, down, and what moves rows, here of twice as many experts elsewhere.
  GroupedGemmModel moving = model;
  moving.tile.move = 2;
  moving.tile.block = 1e-6;
  const ExpertBlock block{500, 16000, 8000, 8, 1000, 500};
  const double products = burst_seconds(model, GroupedShape{8, 8000, 1000, 1000}) +
                          burst_seconds(model, GroupedShape{8, 8000, 1000, 500});
  const double moved = 2.0 * ((500 + 16000) * 1000.0 + 3 * 16000 * 500.0);
  CHECK(burst_seconds(moving, block) == approximately(products + 2 * moved / 1e12 + 1e-6, 1e-12));
}

// 64 rows in 8 groups of which one has 4 times the mean of 8: 32 and 7 of 32 / 7: each one tile.
TEST_CASE("grouped: unequal groups are filled up apart") {
  CHECK(padded_rows({8, 64, 1, 1, 4}) == 8 * 64);
  // 8000 rows, the largest 2000, seven of 857.1: 2048 + 7 * 896.
  CHECK(padded_rows({8, 8000, 1, 1, 2}) == 2048 + 7 * 896);
  // One group holds all.
  CHECK(padded_rows({2, 640, 1, 1, 2}) == 640);
  const Answer uneven = plain_profile()->grouped_gemm(
      {.groups = 8, .rows = 8000, .n = 1000, .k = 1000, .imbalance = 2});
  CHECK(uneven.extrapolated);  // only even groups were timed
}

TEST_CASE("grouped: what lies outside the measurements says so") {
  const auto profile = plain_profile();
  const GroupedGemmQuestion inside{.groups = 8, .rows = 8000, .n = 1000, .k = 1000};
  CHECK_FALSE(profile->grouped_gemm(inside).extrapolated);
  CHECK(profile->grouped_gemm(inside).relative_p90 == approximately(0.15));
  for (const GroupedGemmQuestion& outside :
       {GroupedGemmQuestion{.groups = 512, .rows = 51200, .n = 1000, .k = 1000},
        GroupedGemmQuestion{.groups = 8, .rows = 80, .n = 1000, .k = 1000},
        GroupedGemmQuestion{.groups = 8, .rows = 8000, .n = 32768, .k = 1000},
        GroupedGemmQuestion{.groups = 8, .rows = 8000, .n = 1000, .k = 64}}) {
    const Answer answer = profile->grouped_gemm(outside);
    CHECK(answer.extrapolated);
    CHECK(answer.relative_p90 == approximately(0.3));
  }
  CHECK(profile->grouped_gemm({.groups = 8}).duration.value() == 0);
}

// Nothing timed, or another precision: a batch of equal products; of weight gradients, those of
// n x k over the rows of one group.
TEST_CASE("grouped: without measurements as batched products") {
  const auto profile = profile_of(plain_data(), round_device());
  const GroupedGemmQuestion question{.groups = 8, .rows = 8192, .n = 2048, .k = 512};
  const Answer answer = profile->grouped_gemm(question);
  CHECK(answer.extrapolated);
  CHECK(answer.duration == profile->gemm({.m = 1024, .n = 2048, .k = 512, .batch = 8}).duration);
  GroupedGemmQuestion gradient = question;
  gradient.layout = Layout::weight_gradient;
  CHECK(
      profile->grouped_gemm(gradient).duration ==
      profile->gemm({.m = 2048, .n = 512, .k = 1024, .batch = 8, .layout = Layout::weight_gradient})
          .duration);
  GroupedGemmQuestion narrow = question;
  narrow.precision = Precision::fp8;
  CHECK(plain_profile()->grouped_gemm(narrow).duration ==
        profile->gemm({.m = 1024, .n = 2048, .k = 512, .batch = 8, .precision = Precision::fp8})
            .duration);
}

// Layers of Mixtral and DeepSeek: never above peak, and rows that double never take less time.
TEST_CASE("grouped: shipped profiles answer plausibly") {
  for (const std::string& name : public_device_names()) {
    DeviceType device;
    device.name = name;
    const auto profile = read_profile(
        std::filesystem::path(MAQUETTE_ROOT) / "scenarios/catalog/devices" / (name + ".h5"),
        device);
    const double peak = public_device(name)->peak_bf16;
    for (const auto& [groups, n, k] : {std::tuple{8, 28672, 4096}, std::tuple{8, 4096, 14336},
                                       std::tuple{32, 4096, 7168}, std::tuple{32, 7168, 2048}}) {
      double before = 0;
      for (std::int64_t rows = 64; rows <= 4096; rows *= 2) {
        const GroupedGemmQuestion question{.groups = groups, .rows = rows * groups, .n = n, .k = k};
        const double now = profile->grouped_gemm(question).duration.value();
        CAPTURE(name);
        CAPTURE(groups);
        CAPTURE(rows);
        CHECK(2.0 * static_cast<double>(rows * groups) * n * k / now <= peak);
        CHECK(now >= 0.9 * before);
        if (rows >= 2048) {
          CHECK(2.0 * static_cast<double>(rows * groups) * n * k / now > 0.25 * peak);
        }
        before = now;
      }
    }
  }
}

// Fitted anew on the same split: what the file states must be what the data give.
TEST_CASE("grouped: stated errors are those of the data, and within the accepted ones") {
  const char* named = std::getenv("MAQUETTE_DATA");
  const std::filesystem::path data =
      named != nullptr ? std::filesystem::path(named)
                       : std::filesystem::path(MAQUETTE_ROOT).parent_path() / "shared/data";
  if (!std::filesystem::exists(data / "kernels/moe")) {
    MESSAGE("skipped: no measurements at " << data.string() << " (set MAQUETTE_DATA)");
    return;
  }
  const ProfileData shipped = read_profile_data(std::filesystem::path(MAQUETTE_ROOT) /
                                                "scenarios/catalog/devices/h200-sxm.h5");
  ProfileData fresh;
  fresh.gemm = shipped.gemm;
  add_experts(fresh, *public_device("h200-sxm"), data / "kernels");
  REQUIRE(fresh.reports.size() == 3);
  for (const FitReport& report : fresh.reports) {
    CAPTURE(report.family);
    const bool is_unseen = report.family.ends_with("new shapes");
    CHECK(report.mape < (is_unseen ? 0.17 : 0.09));
    CHECK(report.p90 < (is_unseen ? 0.4 : 0.18));
    CHECK(std::abs(report.bias) < 0.02);
    bool is_stated = false;
    for (const FitReport& stated : shipped.reports) {
      if (stated.family == report.family) {
        is_stated = true;
        CHECK(std::abs(stated.mape - report.mape) < 1e-3);
      }
    }
    CHECK(is_stated);
  }
}
