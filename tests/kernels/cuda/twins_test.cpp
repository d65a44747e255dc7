// What GPU kernels are checked against: numbers by hand; bytes and FLOPs as the simulator counts.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "calibrate/profile/roofline.h"
#include "kernels/cuda/blas.h"
#include "kernels/cuda/nvml.h"
#include "kernels/cuda/plain.h"
#include "tests/kernels/small_layer.h"

using namespace kernels::cuda;
using calibrate::profile::Layout;
using calibrate::profile::Precision;

TEST_CASE("bf16: 1.5 is exact, halves go to even") {
  CHECK(to_bf16(1.5F).bits == 0x3fc0);
  CHECK(from_bf16({0xbfc0}) == -1.5F);
  // Seven bits of mantissa: 1 + 1/256 lies between 1 and 1 + 1/128, 1 + 3/256 between 1 + 2/256 and
  // 1 + 4/256; both ties go to the even one.
  CHECK(from_bf16(to_bf16(1 + 1 / 256.0F)) == 1);
  CHECK(from_bf16(to_bf16(1 + 3 / 256.0F)) == 1 + 4 / 256.0F);
}

TEST_CASE("fp8 and fp16 bits: 1.25, -0.625, 448, 2^-9") {
  // e4m3: exponent + 7, three bits: 1.25 = 0 0111 010; -0.625 = -1.25 / 2 = 1 0110 010.
  CHECK(exact_bits(1.25F, 4, 3) == 0x3a);
  CHECK(exact_bits(-0.625F, 4, 3) == 0xb2);
  CHECK(from_fp8({0x3a}) == 1.25F);
  CHECK(from_fp8({0xb2}) == -0.625F);
  CHECK(from_fp8({0x7e}) == 448);
  CHECK(from_fp8({0x01}) == std::ldexp(1.0F, -9));
  // Half precision: exponent + 15, ten bits: 1.25 = 0 01111 0100000000.
  CHECK(exact_bits(1.25F, 5, 10) == 0x3d00);
  CHECK(exact_bits(0, 5, 10) == 0);
}

TEST_CASE("layer norm: 1, 3 -> -1, 1 around their mean; weight and bias after") {
  // Mean 2, variance 1: (1 - 2) / 1 = -1, times 2 plus 10; (3 - 2) / 1 = 1, times 4 plus 20.
  const auto y = plain_layer_norm({1, 2}, {1, 3}, {2, 4}, {10, 20});
  CHECK(std::abs(y[0] - 8) < 1e-4);
  CHECK(std::abs(y[1] - 24) < 1e-4);
}

TEST_CASE("gelu: 0 -> 0, 1 -> 0.8412, -1 -> 0.8412 - 1, large ones pass") {
  // x Phi(x): Phi(1) = 0.8413, within 2e-4 of the approximation; gelu(-x) = gelu(x) - x.
  CHECK(plain_gelu(0) == 0);
  CHECK(std::abs(plain_gelu(1) - 0.8413) < 5e-4);
  CHECK(std::abs(plain_gelu(-1) - (plain_gelu(1) - 1)) < 1e-6);
  CHECK(std::abs(plain_gelu(9) - 9) < 1e-6);
}

TEST_CASE("attention: equal scores give the mean of values; gradients by hand") {
  // Two tokens, one head of size 1, query 0: every score 0, all shares 1/2 without a mask.
  const AttentionShape shape{1, 1, 1, 2, 1, false};
  const auto all = plain_attention(shape, {0, 0}, {1, 3}, {10, 20}, {1, 0});
  CHECK(all.output[0] == 15);
  CHECK(all.output[1] == 15);
  // dV = shares of the one query that has a gradient.
  CHECK(all.value_gradient == std::vector<float>{0.5F, 0.5F});
  // dS_j = P_j (V_j - 15): -2.5, 2.5; dQ = -2.5 * 1 + 2.5 * 3 = 5; dK = dS Q = 0.
  CHECK(std::abs(all.query_gradient[0] - 5) < 1e-6);
  CHECK(all.query_gradient[1] == 0);
  CHECK(all.key_gradient == std::vector<float>{0, 0});
}

TEST_CASE("attention: a causal first token sees itself; two query heads share a key head") {
  const AttentionShape shape{1, 2, 1, 2, 1, true};
  const auto all = plain_attention(shape, {0, 0, 0, 0}, {1, 3}, {10, 20}, {1, 0, 1, 0});
  CHECK(all.output == std::vector<float>{10, 15, 10, 15});
  CHECK(all.value_gradient == std::vector<float>{2, 0});
}

TEST_CASE("products: operand sizes of 16 x 32 x 64, FLOPs and bytes by the simulator's functions") {
  const Product half{Precision::bf16, Layout::forward, 16, 32, 64, false};
  CHECK(half.a_bytes() == 2048);
  CHECK(half.b_bytes() == 4096);
  CHECK(half.c_bytes() == 1024);
  CHECK(calibrate::profile::gemm_bytes(half.question()) == 7168);
  CHECK(calibrate::profile::gemm_flops(half.question()) == 65536);
  // fp8: half of the operands, output bf16; accumulating reads and writes fp32.
  const Product narrow{Precision::fp8, Layout::forward, 16, 32, 64, false};
  CHECK(static_cast<double>(narrow.a_bytes() + narrow.b_bytes() + narrow.c_bytes()) ==
        calibrate::profile::gemm_bytes(narrow.question()));
  const Product sum{Precision::bf16, Layout::weight_gradient, 16, 32, 64, true};
  CHECK(static_cast<double>(sum.a_bytes() + sum.b_bytes() + 2 * sum.c_bytes()) ==
        calibrate::profile::gemm_bytes(sum.question()));
}

TEST_CASE("grouped: 2 and 6 rows -> 8 rows of 2 groups, the largest 1.5 times the mean") {
  const auto question = GroupedProduct{{2, 6}, 4, 8}.question();
  CHECK(question.groups == 2);
  CHECK(question.rows == 8);
  CHECK(question.imbalance == 1.5);
  CHECK(calibrate::profile::grouped_flops(question) == 512);  // 2 * 8 * 4 * 8
}

TEST_CASE("bytes: those that the simulator counts for the operators of a fused bf16 layer") {
  const auto bytes_of = [](const char* part, bool gated, sim::dnn::Norm norm) {
    return counted_bytes(part, 2, gated, norm);
  };
  using enum sim::dnn::Norm;
  CHECK(bytes_of("norm", true, rms_norm) == rms_norm_bytes);
  CHECK(bytes_of("norm", true, layer_norm) == layer_norm_bytes);
  CHECK(bytes_of("activation", true, rms_norm) == swiglu_bytes);
  CHECK(bytes_of("activation", false, rms_norm) == gelu_bytes);
  CHECK(bytes_of("rotary", true, rms_norm) == rotary_bytes);
  CHECK(bytes_of("residual", true, rms_norm) == residual_bytes);
}

TEST_CASE("clocks: bits 2 and 5 -> power limit and thermal; none at full speed") {
  CHECK(slowed_by(0) == "");
  CHECK(slowed_by(0x1) == "");  // idle is no complaint
  CHECK(slowed_by(0x24) == "power limit + thermal");
}

TEST_CASE("libraries: what is missing is named, with where it was looked for") {
  std::string message, why;
  try {
    const Library library("a library of nobody", {"libnobody.so.1", "libnobody.so"});
  } catch (const DeviceError& error) {
    message = error.message;
    why = error.why;
  }
  CHECK(message == "a library of nobody was not found");
  CHECK(why == "looked for libnobody.so.1, libnobody.so");
}
