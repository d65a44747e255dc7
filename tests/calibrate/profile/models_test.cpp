// Model forms against numbers worked by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "calibrate/profile/fitted_profile.h"
#include "tests/approximately.h"
#include "tests/calibrate/profile/sample_data.h"

using namespace calibrate::profile;
using sim::approximately;

TEST_CASE("isotonic: violators share their mean") {
  // 3, 1 -> 2, 2; then 2 (equal) stays; 5, 4 -> 4.5.
  CHECK(isotonic({3, 1, 2, 5, 4}) == std::vector<double>{2, 2, 2, 4.5, 4.5});
  CHECK(isotonic({1, 2, 3}) == std::vector<double>{1, 2, 3});
  CHECK(isotonic({3, 2, 1}) == std::vector<double>{2, 2, 2});
}

TEST_CASE("size curve: a straight line in logarithms is kept exactly") {
  // 1 us a kB: proportional. At 30 kB 30 us; beyond the end the slope of 1 goes on.
  const SizeCurve curve = size_curve({1e3, 1e4, 1e5}, {1e-6, 1e-5, 1e-4});
  CHECK(curve.seconds(3e4) == approximately(3e-5, 1e-12));
  CHECK(curve.seconds(1e6) == approximately(1e-3, 1e-12));
  CHECK(curve.seconds(10) == approximately(1e-6, 1e-12));  // below the first: constant
}

TEST_CASE("size curve: a knee by hand") {
  // Equal knots in log10: 0, 0, 1 (flat, then tenfold). Slopes 0, 0, 1 per decade: at the middle of
  // the second part the cubic is 1/2 - 1/8 = 0.375 decades.
  const SizeCurve curve = size_curve({1e3, 1e4, 1e5}, {1e-6, 1e-6, 1e-5});
  CHECK(curve.seconds(std::pow(10, 4.5)) == approximately(1e-6 * std::pow(10, 0.375), 1e-12));
  CHECK(curve.seconds(5e3) == approximately(1e-6, 1e-12));
}

TEST_CASE("size curve: never falls, goes through monotone knots") {
  const std::vector<double> bytes{256, 1e3, 1e4, 2e5, 1e6, 3e7},
      seconds{5e-6, 5.1e-6, 9e-6, 9.1e-6, 6e-5, 6.1e-5};
  const SizeCurve curve = size_curve(bytes, seconds);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK(curve.seconds(bytes[i]) == approximately(seconds[i], 1e-12));
  }
  double before = 0;
  for (double size = 100; size < 1e9; size *= 1.01) {
    const double now = curve.seconds(size);
    REQUIRE(now >= before * (1 - 1e-12));
    before = now;
  }
}

TEST_CASE("memory: half way at the knee") {
  // 10 MB at a knee of 10 MB: half at 4 TB/s (1.25 us), half at 1 TB/s (5 us), after 1 us.
  const MemoryCurve<double> curve{1e-6, 4e12, 1e12, 1e7, 2};
  CHECK(memory_time(curve, 1e7) == approximately(7.25e-6));
  // 100 times the knee: r = 1 / (1 + 1e-4); 1 GB: 1e9 (1e-4 / 1.0001 / 4e12 + 1 / 1.0001 / 1e12).
  CHECK(memory_time(curve, 1e9) == approximately(1e-6 + 1e-3 / 1.0001 + 1e-7 / 1.0001 / 4, 1e-12));
  CHECK(memory_time(curve, 0) == 0);
}

TEST_CASE("gemm tile: one tile and split by hand") {
  // 100 multiprocessors of 1 TFLOP/s. 2560 x 2560 in tiles of 256 x 128: 10 x 20 = 200 tiles, 2
  // waves. One tile over k = 1000 (in steps of 32: 1024): 2 * 256 * 128 * 1024 FLOP = 67.108864 us.
  const GemmModel model = plain_gemm();
  const GemmShape shape{2560, 2560, 1000, 1};
  // 2 (m k + k n + m n) = 2 (2.56e6 + 2.56e6 + 6.5536e6) B = 23.3472 us of memory.
  const double tiles_busy = 134.217728e-6, memory = 23.3472e-6;
  CHECK(tile_time(model.tile, model.hardware, shape, 0, 1) ==
        approximately(std::pow(std::pow(tiles_busy, 4) + std::pow(memory, 4), 0.25), 1e-12));
  // One row more makes 220 tiles: three whole waves, or 2.2 when waves may be fractions.
  GemmTile<double> tile = model.tile;
  tile.memory = 1e9;
  const GemmShape taller{2561, 2560, 1000, 1};
  CHECK(tile_time(tile, model.hardware, taller, 0, 1) == approximately(3 * 67.108864e-6));
  tile.quantisation = 0;
  CHECK(tile_time(tile, model.hardware, taller, 0, 1) == approximately(2.2 * 67.108864e-6));
}

TEST_CASE("attention tile: blocks by hand") {
  // 8 heads of 4096, no overheads: 8 * 32 = 256 blocks on 100, 2.56 waves of the average block.
  // Pairs 4096^2 / 2; 4 * 128 * 8388608 FLOP / 32 blocks at 1 TFLOP/s = 134.217728 us a block.
  // The longest: 4 * 128 * 128 * 4096 FLOP = 268.435456 us. Bytes: 4 * 8 * 4096 * 128 * 2 = 33.554
  // us.
  const AttentionModel model = plain_attention();
  const AttentionShape shape =
      attention_shape({.query_heads = 8, .kv_heads = 8, .query_length = 4096, .key_length = 4096});
  CHECK(shape.bytes == 33554432);
  const double busy = 2.56 * 134.217728, longest = 268.435456, memory = 33.554432;
  CHECK(burst_seconds(model, shape) ==
        approximately(
            1e-6 * std::pow(std::pow(busy, 4) + std::pow(longest, 4) + std::pow(memory, 4), 0.25),
            1e-12));
}

TEST_CASE("Gaussian process: one point, at it and one length away") {
  // k(1) = (1 + sqrt 5 + 5/3) exp(-sqrt 5) = 4.902734... * 0.106877... = 0.523994.
  const GaussianProcess process{{10}, {0.5}, {1}, {0.2}};
  CHECK(process.mean(std::vector<double>{12}) == approximately(0.2));
  CHECK(process.mean(std::vector<double>{14}) == approximately(0.2 * 0.523994, 1e-5));
  CHECK(std::abs(process.mean(std::vector<double>{1000})) < 1e-12);
}

TEST_CASE("a correction is limited to a quarter") {
  GemmModel model = plain_gemm();
  const GemmShape shape{2560, 2560, 1024, 1};
  const double plain = burst_seconds(model, shape);
  const auto features = gemm_features(shape, 100);
  model.residual.points.assign(features.begin(), features.end());
  model.residual.weights = {5};  // e^5 = 148 times as long
  CHECK(burst_seconds(model, shape) == approximately(1.25 * plain, 1e-12));
  model.residual.weights = {0.1};
  CHECK(burst_seconds(model, shape) == approximately(std::exp(0.1) * plain, 1e-12));
}

TEST_CASE("factors multiply; the launch is not slowed; the peak is never passed") {
  ProfileData data = plain_data();
  data.gemm.front().tile.launch = 10e-6;
  const GemmQuestion question{.m = 4096, .n = 4096, .k = 4096};
  const auto seconds = [&](const GemmQuestion& asked) {
    return profile_of(data, round_device())->gemm(asked).duration.value();
  };
  const double burst = seconds(question);
  data.sustained_gemm.value = 1.2;
  CHECK(seconds(question) == approximately(10e-6 + 1.2 * (burst - 10e-6), 1e-12));
  data.weight_gradient_fp32.value = 1.5;
  GemmQuestion gradient = question;
  gradient.layout = Layout::weight_gradient;
  gradient.accumulates_fp32 = true;
  CHECK(seconds(gradient) == approximately(10e-6 + 1.8 * (burst - 10e-6), 1e-12));
  data.sustained_gemm.value = 0.01;
  CHECK(seconds(question) == approximately(2 * 4096.0 * 4096 * 4096 / 100e12));
}

TEST_CASE("what lies outside the measurements says so, with a wider interval") {
  const auto profile = profile_of(plain_data(), round_device());
  const Answer inside = profile->gemm({.m = 4096, .n = 4096, .k = 4096});
  CHECK_FALSE(inside.extrapolated);
  CHECK(inside.relative_p90 == approximately(0.1));
  const Answer outside = profile->gemm({.m = 32, .n = 4096, .k = 4096});
  CHECK(outside.extrapolated);
  CHECK(outside.relative_p90 == approximately(0.2));
  // fp32: no fit; half of 50 TFLOP/s: 137.4 GFLOP / 25 TFLOP/s = 5.49755813888 ms.
  const Answer assumed =
      profile->gemm({.m = 4096, .n = 4096, .k = 4096, .precision = Precision::fp32});
  CHECK(assumed.extrapolated);
  CHECK(assumed.duration.value() == approximately(5.49755813888e-3));
  CHECK(profile->gemm({.m = 4096, .n = 4096, .k = 4096, .precision = Precision::fp16}).duration ==
        inside.duration);
}

TEST_CASE("collectives: measured ranks as they are, others by the ring law's ratio") {
  const auto profile = profile_of(plain_data(), round_device());
  CollectiveQuestion question{.ranks = 8, .bytes = 1e6};
  CHECK(profile->collective(question).duration.value() == approximately(2e-5, 1e-12));
  CHECK_FALSE(profile->collective(question).extrapolated);
  // 4 ranks are as near to 2 as to 8 in logarithms; the larger stands in. Law, base and hop 1 us:
  //   8: 1 + 14 + 1.75 MB / 0.1 TB/s (1 + 1e5 * 8 / 1e6) = 15 + 17.5 * 1.8 = 46.5 us
  //   4: 1 + 6 + 1.5 MB / 0.1 TB/s (1 + 1e5 * 4 / 1e6) = 7 + 15 * 1.4 = 28 us
  question.ranks = 4;
  const Answer law = profile->collective(question);
  CHECK(law.duration.value() == approximately(2e-5 * 28 / 46.5, 1e-12));
  CHECK(law.extrapolated);
  question.ranks = 16;
  CHECK_FALSE(profile->has_collective(question));
  question = {.kind = CollectiveKind::broadcast, .ranks = 8, .bytes = 1e6};
  CHECK_FALSE(profile->has_collective(question));
}

TEST_CASE("attention: kernels, masks and directions scale what was measured") {
  ProfileData data = plain_data();
  data.attention_backward.value = 3;
  data.attention_full.value = 1.9;
  const auto profile = profile_of(data, round_device());
  AttentionQuestion question{
      .sequences = 4, .query_heads = 32, .kv_heads = 32, .query_length = 4096, .key_length = 4096};
  const double forward = profile->attention(question).duration.value();
  question.backward = true;
  CHECK(profile->attention(question).duration.value() == approximately(3 * forward, 1e-12));
  question.backward = false;
  question.kernel = AttentionKernel::triton;
  CHECK(profile->attention(question).duration.value() == approximately(2 * forward, 1e-12));
  question.kernel = AttentionKernel::flash2;
  question.head_size = 96;  // not fitted
  CHECK(profile->attention(question).extrapolated);
  // As wide in the mean: the same work, though it was not timed so.
  question.head_size = 192;
  question.value_head_size = 64;
  CHECK(profile->attention(question).duration.value() == approximately(forward, 1e-12));
}
