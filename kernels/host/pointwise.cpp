// Operators bound by memory: loops that a compiler can turn into vectors.
#include "kernels/host/pointwise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace kernels::host {
namespace {

// exp(x) within 3e-7: 2^n by the exponent's bits, the rest by a Taylor polynomial.
inline float exponential(float x) {
  const float limited = std::min(std::max(x, -87.0F), 88.0F);
  const float scaled = limited * 1.44269504F;
  const float whole = std::floor(scaled + 0.5F);
  const float rest = (scaled - whole) * 0.69314718F;
  const float p =
      1 + rest * (1 + rest * (1 / 2.0F +
                              rest * (1 / 6.0F +
                                      rest * (1 / 24.0F + rest * (1 / 120.0F + rest / 720.0F)))));
  const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(whole) + 127) << 23;
  return p * std::bit_cast<float>(bits);
}

constexpr float norm_epsilon = 1e-5F;
constexpr std::size_t lanes = 16;  // partial sums, so that a sum can be a vector

float sum_of_squares(const float* x, std::size_t width) {
  float parts[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) parts[l] += x[i + l] * x[i + l];
  }
  float sum = 0;
  for (; i < width; ++i) sum += x[i] * x[i];
  for (const float part : parts) sum += part;
  return sum;
}

float largest(const float* x, std::size_t width) {
  float parts[lanes];
  std::fill(parts, parts + lanes, x[0]);
  std::size_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) parts[l] = std::max(parts[l], x[i + l]);
  }
  for (; i < width; ++i) parts[0] = std::max(parts[0], x[i]);
  return *std::max_element(parts, parts + lanes);
}

}  // namespace

void copy(std::span<const float> a, std::span<float> c) {
  std::memcpy(c.data(), a.data(), a.size_bytes());
}

void add(std::span<const float> a, std::span<const float> b, std::span<float> c) {
  const float* x = a.data();
  const float* y = b.data();
  float* z = c.data();
  for (std::size_t i = 0; i < c.size(); ++i) z[i] = x[i] + y[i];
}

void triad(std::span<const float> a, std::span<const float> b, float scale, std::span<float> c) {
  const float* x = a.data();
  const float* y = b.data();
  float* z = c.data();
  for (std::size_t i = 0; i < c.size(); ++i) z[i] = x[i] + scale * y[i];
}

void rms_norm(Rows rows, const float* x, const float* weight, float* y) {
  for (std::size_t row = 0; row < rows.count; ++row) {
    const float* in = x + row * rows.width;
    float* out = y + row * rows.width;
    const float mean = sum_of_squares(in, rows.width) / static_cast<float>(rows.width);
    const float scale = 1 / std::sqrt(mean + norm_epsilon);
    for (std::size_t i = 0; i < rows.width; ++i) out[i] = in[i] * scale * weight[i];
  }
}

void swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> y) {
  const float* g = gate.data();
  const float* u = up.data();
  float* out = y.data();
  for (std::size_t i = 0; i < y.size(); ++i) out[i] = g[i] / (1 + exponential(-g[i])) * u[i];
}

void residual(std::span<const float> y, std::span<float> x) {
  const float* in = y.data();
  float* out = x.data();
  for (std::size_t i = 0; i < x.size(); ++i) out[i] += in[i];
}

void rotary(Rows rows, const float* cosine, const float* sine, float* x) {
  const std::size_t half = rows.width / 2;
  for (std::size_t row = 0; row < rows.count; ++row) {
    float* first = x + row * rows.width;
    float* second = first + half;
    for (std::size_t i = 0; i < half; ++i) {
      const float a = first[i], b = second[i];
      first[i] = a * cosine[i] - b * sine[i];
      second[i] = a * sine[i] + b * cosine[i];
    }
  }
}

double cross_entropy(Rows rows, const int* target, float* x) {
  double loss = 0;
  const float share = 1 / static_cast<float>(rows.count);
  for (std::size_t row = 0; row < rows.count; ++row) {
    float* values = x + row * rows.width;
    const float most = largest(values, rows.width);
    const float wanted = values[target[row]];
    float parts[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= rows.width; i += lanes) {
      for (std::size_t l = 0; l < lanes; ++l) {
        values[i + l] = exponential(values[i + l] - most);
        parts[l] += values[i + l];
      }
    }
    float sum = 0;
    for (; i < rows.width; ++i) {
      values[i] = exponential(values[i] - most);
      sum += values[i];
    }
    for (const float part : parts) sum += part;
    loss += std::log(static_cast<double>(sum)) + most - wanted;
    const float scale = share / sum;
    for (i = 0; i < rows.width; ++i) values[i] *= scale;
    values[target[row]] -= share;
  }
  return loss / static_cast<double>(rows.count);
}

void adam(const Adam& settings, std::span<const float> gradient, std::span<float> mean,
          std::span<float> square, std::span<float> weight) {
  const float step = static_cast<float>(settings.step);
  const float first = 1 / (1 - std::pow(settings.beta1, step)),
              second = 1 / (1 - std::pow(settings.beta2, step));
  const float keep1 = settings.beta1, keep2 = settings.beta2, rate = settings.rate,
              epsilon = settings.epsilon;
  const float* g = gradient.data();
  float *m = mean.data(), *v = square.data(), *w = weight.data();
  for (std::size_t i = 0; i < weight.size(); ++i) {
    m[i] = keep1 * m[i] + (1 - keep1) * g[i];
    v[i] = keep2 * v[i] + (1 - keep2) * g[i] * g[i];
    w[i] -= rate * (m[i] * first) / (std::sqrt(v[i] * second) + epsilon);
  }
}

}  // namespace kernels::host
