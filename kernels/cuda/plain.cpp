// CPU twins of GPU kernels.
#include "kernels/cuda/plain.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kernels::cuda {

Bf16 to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t odd = bits >> 16 & 1;
  return {static_cast<std::uint16_t>((bits + 0x7fff + odd) >> 16)};
}

float from_bf16(Bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

float from_fp8(Fp8 x) {
  const int exponent = x.bits >> 3 & 15, mantissa = x.bits & 7;
  const double size =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return static_cast<float>((x.bits & 0x80) != 0 ? -size : size);
}

std::uint32_t exact_bits(float x, int exponent_bits, int mantissa_bits) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 31 << (exponent_bits + mantissa_bits);
  if (x == 0) return sign;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127 + bias;
  const std::uint32_t mantissa = (bits & 0x7fffff) >> (23 - mantissa_bits);
  return sign | static_cast<std::uint32_t>(exponent) << mantissa_bits | mantissa;
}

std::vector<float> plain_layer_norm(Rows rows, const std::vector<float>& x,
                                    const std::vector<float>& weight,
                                    const std::vector<float>& bias) {
  std::vector<float> y(rows.elements());
  const auto width = static_cast<double>(rows.width);
  for (std::size_t row = 0; row < rows.count; ++row) {
    const float* in = x.data() + row * rows.width;
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < rows.width; ++i) mean += in[i] / width;
    for (std::size_t i = 0; i < rows.width; ++i) variance += std::pow(in[i] - mean, 2) / width;
    const double root = std::sqrt(variance + 1e-5);
    for (std::size_t i = 0; i < rows.width; ++i) {
      y[row * rows.width + i] = static_cast<float>((in[i] - mean) / root * weight[i] + bias[i]);
    }
  }
  return y;
}

float plain_gelu(float x) {
  const double v = x;
  const double root = std::sqrt(2 / 3.14159265358979323846);
  return static_cast<float>(0.5 * v * (1 + std::tanh(root * (v + 0.044715 * v * v * v))));
}

namespace {

// One query of one head. `at` is the element of a tensor where it, or the first key, begins.
struct Query {
  const AttentionShape& shape;
  std::size_t at, first;
  std::size_t keys;

  std::size_t key_at(std::size_t j) const {
    return first + j * static_cast<std::size_t>(shape.head_size);
  }
  double dot(const std::vector<float>& a, const std::vector<float>& b, std::size_t j) const {
    double sum = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(shape.head_size); ++d) {
      sum += static_cast<double>(a[at + d]) * b[key_at(j) + d];
    }
    return sum;
  }
};

std::vector<double> shares_of(const Query& one, const std::vector<float>& query,
                              const std::vector<float>& key) {
  std::vector<double> shares(one.keys);
  double most = -HUGE_VAL, total = 0;
  for (std::size_t j = 0; j < one.keys; ++j) {
    shares[j] = one.dot(query, key, j) / std::sqrt(static_cast<double>(one.shape.head_size));
    most = std::max(most, shares[j]);
  }
  for (double& share : shares) total += share = std::exp(share - most);
  for (double& share : shares) share /= total;
  return shares;
}

}  // namespace

AttentionOutput plain_attention(const AttentionShape& shape, const std::vector<float>& query,
                                const std::vector<float>& key, const std::vector<float>& value,
                                const std::vector<float>& output_gradient) {
  const auto size = static_cast<std::size_t>(shape.head_size),
             length = static_cast<std::size_t>(shape.length);
  const int rows = shape.sequences * shape.heads * shape.length;
  AttentionOutput all{std::vector<float>(query.size()), std::vector<float>(query.size()),
                      std::vector<float>(key.size()), std::vector<float>(value.size())};
  for (int row = 0; row < rows; ++row) {
    const int head = row / shape.length % shape.heads, sequence = row / shape.length / shape.heads,
              kv_head = head / (shape.heads / shape.kv_heads);
    const auto first =
        static_cast<std::size_t>(sequence * shape.kv_heads + kv_head) * length * size;
    const auto keys = shape.causal ? static_cast<std::size_t>(row % shape.length) + 1 : length;
    const Query one{shape, static_cast<std::size_t>(row) * size, first, keys};
    const std::vector<double> shares = shares_of(one, query, key);
    // The gradient of softmax: P (dP - sum P dP).
    double mean = 0;
    for (std::size_t j = 0; j < keys; ++j) mean += shares[j] * one.dot(output_gradient, value, j);
    const double scale = 1 / std::sqrt(static_cast<double>(size));
    for (std::size_t j = 0; j < keys; ++j) {
      const double score = shares[j] * (one.dot(output_gradient, value, j) - mean) * scale;
      for (std::size_t d = 0; d < size; ++d) {
        const std::size_t q = one.at + d, k = one.key_at(j) + d;
        all.output[q] += static_cast<float>(shares[j] * value[k]);
        all.query_gradient[q] += static_cast<float>(score * key[k]);
        all.key_gradient[k] += static_cast<float>(score * query[q]);
        all.value_gradient[k] += static_cast<float>(shares[j] * output_gradient[q]);
      }
    }
  }
  return all;
}

}  // namespace kernels::cuda
