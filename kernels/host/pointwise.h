// Operators bound by memory, fp32, on the CPU: what stands between the products of a transformer.
//
// Each has a plain_ twin, summed in double, that it is tested against. Bytes are what the simulator
// counts (passes over the elements, sim/dnn/operator_list.h).
#pragma once

#include <cstddef>
#include <span>

namespace kernels::host {

struct Rows {
  std::size_t count = 0, width = 0;
  std::size_t elements() const { return count * width; }
};

// As STREAM: c = a, c = a + b, c = a + scale b.
void copy(std::span<const float> a, std::span<float> c);
void add(std::span<const float> a, std::span<const float> b, std::span<float> c);
void triad(std::span<const float> a, std::span<const float> b, float scale, std::span<float> c);

// y = x / sqrt(mean of x^2 over a row + 1e-5) weight[width].
void rms_norm(Rows rows, const float* x, const float* weight, float* y);
void plain_rms_norm(Rows rows, const float* x, const float* weight, float* y);
// y = gate / (1 + exp(-gate)) up. Within 1e-5: the exponential is a polynomial.
void swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> y);
void plain_swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> y);
// x += y.
void residual(std::span<const float> y, std::span<float> x);
// Turns pairs (i, i + width / 2) of a row by angles whose cosines and sines stand in
// cosine[width / 2] and sine[width / 2], in place.
void rotary(Rows rows, const float* cosine, const float* sine, float* x);
// Mean over rows of log(sum exp(x)) - x[target]; `x` becomes its gradient.
double cross_entropy(Rows rows, const int* target, float* x);
double plain_cross_entropy(Rows rows, const int* target, float* x);

struct Adam {
  float rate = 1e-3F, beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
  int step = 1;  // counted from 1
};
// Kingma and Ba, ICLR 2015, algorithm 1.
void adam(const Adam& settings, std::span<const float> gradient, std::span<float> mean,
          std::span<float> square, std::span<float> weight);
void plain_adam(const Adam& settings, std::span<const float> gradient, std::span<float> mean,
                std::span<float> square, std::span<float> weight);

// Bytes read and written for each element: 4 times the passes.
inline constexpr double copy_bytes = 8, add_bytes = 12, triad_bytes = 12, rms_norm_bytes = 8,
                        swiglu_bytes = 12, residual_bytes = 12, rotary_bytes = 8,
                        cross_entropy_bytes = 12, adam_bytes = 28;

}  // namespace kernels::host
