// Profiles without a measurement: datasheet and ideal.
#include "calibrate/profile/profile.h"

#include <doctest/doctest.h>

#include "tests/approximately.h"
#include "tests/calibrate/profile/sample_data.h"

using namespace calibrate::profile;
using sim::approximately;

// The round device: 100 TFLOP/s bf16, 1 TB/s; the ridge lies at 100 FLOP/byte.

TEST_CASE("ideal: a large product takes its FLOPs at peak") {
  // 2 * 1000^3 = 2 GFLOP at 100 TFLOP/s = 20 us; 6 MB at 1 TB/s = 6 us is hidden.
  const auto profile = ideal_profile(round_device());
  const Answer answer = profile->gemm({.m = 1000, .n = 1000, .k = 1000});
  CHECK(answer.duration.value() == approximately(20e-6));
  CHECK(answer.relative_p90 == 0);
  CHECK_FALSE(answer.extrapolated);
  CHECK(profile->origin() == Origin::ideal);
}

TEST_CASE("ideal: a thin product takes its bytes at the memory rate") {
  // m = 1, n = k = 1000: 2 MFLOP = 0.02 us; (1000 + 1,000,000 + 1000) * 2 B = 2.004 MB = 2.004 us.
  const auto profile = ideal_profile(round_device());
  CHECK(profile->gemm({.m = 1, .n = 1000, .k = 1000}).duration.value() == approximately(2.004e-6));
  // With an fp32 output that is added to, 8 instead of 2 bytes for each of 1000 outputs: 2.010 us.
  CHECK(profile->gemm({.m = 1, .n = 1000, .k = 1000, .accumulates_fp32 = true}).duration.value() ==
        approximately(2.010e-6));
}

TEST_CASE("ideal: attention counts the pairs that are computed") {
  // 1000 x 1000 pairs halved by the mask, 2 products of 2 * 100 FLOP: 0.2 GFLOP = 2 us; 10
  // heads: 20.
  const auto profile = ideal_profile(round_device());
  AttentionQuestion question{.query_heads = 10,
                             .kv_heads = 10,
                             .query_length = 1000,
                             .key_length = 1000,
                             .head_size = 100};
  CHECK(profile->attention(question).duration.value() == approximately(20e-6));
  question.backward = true;  // five products instead of two
  CHECK(profile->attention(question).duration.value() == approximately(50e-6));
  question.causal = false;
  CHECK(profile->attention(question).duration.value() == approximately(100e-6));
  // The last 500 queries of a causal sequence: 500 * 1000 - 125,000 pairs = 0.375 of the square.
  question.causal = true;
  question.query_length = 500;
  CHECK(profile->attention(question).duration.value() == approximately(100e-6 * 0.375));
}

// Queries and keys of 192, values of 128, 1000 tokens: 500,000 pairs of 2 * 320 FLOP for each of 10
// heads = 3.2 GFLOP = 32 us; backward 2 * (3 * 192 + 2 * 128) = 1664: 83.2 us.
TEST_CASE("ideal: values may be narrower than queries and keys") {
  const auto profile = ideal_profile(round_device());
  AttentionQuestion question{.query_heads = 10,
                             .kv_heads = 10,
                             .query_length = 1000,
                             .key_length = 1000,
                             .head_size = 192,
                             .value_head_size = 128};
  CHECK(profile->attention(question).duration.value() == approximately(32e-6));
  question.backward = true;
  CHECK(profile->attention(question).duration.value() == approximately(83.2e-6));
}

TEST_CASE("ideal: no latency, no collective curves, no multiprocessor taken") {
  const auto profile = ideal_profile(round_device());
  CHECK(profile->memory({.bytes = 0}).duration.value() == 0);
  CHECK(profile->memory({.bytes = 1e6}).duration.value() == approximately(1e-6));
  CHECK_FALSE(profile->has_collective({}));
  const NetworkConstants network = profile->network();
  CHECK(network.base.value() + network.step_intra.value() + network.step_inter.value() == 0);
  CHECK(network.efficiency == 1);
  CHECK(network.intra_efficiency == 1);
  CHECK(network.channels == 0);
}

TEST_CASE("datasheet: slower than ideal by the stated efficiencies, and says it is not measured") {
  const auto profile = datasheet_profile(round_device());
  // 20 us / 0.7 + 2 us of latency.
  const Answer product = profile->gemm({.m = 1000, .n = 1000, .k = 1000});
  CHECK(product.duration.value() == approximately(20e-6 / 0.7 + 2e-6));
  CHECK(product.relative_p90 > 0.2);
  CHECK(product.extrapolated);
  CHECK(profile->memory({.bytes = 85e6}).duration.value() == approximately(100e-6 + 2e-6));
  CHECK(profile->origin() == Origin::datasheet);
}

TEST_CASE("a type without units of its own runs at the next wider one") {
  // No fp8 on this device: the FLOPs run at the bf16 rate, 20 us; the bytes are fewer.
  const auto profile = ideal_profile(round_device());
  CHECK(profile->gemm({.m = 1000, .n = 1000, .k = 1000, .precision = Precision::fp8})
            .duration.value() == approximately(20e-6));
}
