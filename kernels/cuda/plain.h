// What GPU kernels are checked against, on the CPU: loops summed in double, and number formats.
// Those that kernels/host has too stand there.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/pointwise.h"

namespace kernels::cuda {

// Rounded to the nearest, ties to even.
Bf16 to_bf16(float x);
float from_bf16(Bf16 x);
// Value of an fp8 number, e4m3: bias 7, no infinities.
float from_fp8(Fp8 x);
// The bits of a number that a format holds exactly, as a normal number or zero.
std::uint32_t exact_bits(float x, int exponent_bits, int mantissa_bits);

std::vector<float> plain_layer_norm(Rows rows, const std::vector<float>& x,
                                    const std::vector<float>& weight,
                                    const std::vector<float>& bias);
float plain_gelu(float x);

struct AttentionOutput {
  std::vector<float> output, query_gradient, key_gradient, value_gradient;
};
// Forward and backward; tensors as in kernels/cuda/attention.h.
AttentionOutput plain_attention(const AttentionShape& shape, const std::vector<float>& query,
                                const std::vector<float>& key, const std::vector<float>& value,
                                const std::vector<float>& output_gradient);

}  // namespace kernels::cuda
