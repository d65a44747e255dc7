// The plain twins: loops summed in double that every kernel, of CPU or GPU, is tested against.
#include <cmath>

#include "kernels/host/gemm.h"
#include "kernels/host/pointwise.h"

namespace kernels::host {

using calibrate::profile::Layout;

void plain_gemm(const GemmCall& call) {
  const auto m = static_cast<std::size_t>(call.m), n = static_cast<std::size_t>(call.n),
             k = static_cast<std::size_t>(call.k);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = call.accumulates ? call.c[i * n + j] : 0;
      for (std::size_t l = 0; l < k; ++l) {
        const float a =
            call.layout == Layout::weight_gradient ? call.a[l * m + i] : call.a[i * k + l];
        const float b = call.layout == Layout::forward ? call.b[j * k + l] : call.b[l * n + j];
        sum += static_cast<double>(a) * b;
      }
      call.c[i * n + j] = static_cast<float>(sum);
    }
  }
}

void plain_rms_norm(Rows rows, const float* x, const float* weight, float* y) {
  for (std::size_t row = 0; row < rows.count; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.width; ++i) {
      const double value = x[row * rows.width + i];
      sum += value * value;
    }
    const double root = std::sqrt(sum / static_cast<double>(rows.width) + 1e-5);
    for (std::size_t i = 0; i < rows.width; ++i) {
      const std::size_t at = row * rows.width + i;
      y[at] = static_cast<float>(x[at] / root * weight[i]);
    }
  }
}

void plain_swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double g = gate[i];
    y[i] = static_cast<float>(g / (1 + std::exp(-g)) * up[i]);
  }
}

double plain_cross_entropy(Rows rows, const int* target, float* x) {
  double loss = 0;
  for (std::size_t row = 0; row < rows.count; ++row) {
    float* values = x + row * rows.width;
    double sum = 0;
    for (std::size_t i = 0; i < rows.width; ++i) sum += std::exp(static_cast<double>(values[i]));
    loss += std::log(sum) - values[target[row]];
    for (std::size_t i = 0; i < rows.width; ++i) {
      const bool is_target = static_cast<int>(i) == target[row];
      const double gradient = std::exp(static_cast<double>(values[i])) / sum - (is_target ? 1 : 0);
      values[i] = static_cast<float>(gradient / static_cast<double>(rows.count));
    }
  }
  return loss / static_cast<double>(rows.count);
}

void plain_adam(const Adam& settings, std::span<const float> gradient, std::span<float> mean,
                std::span<float> square, std::span<float> weight) {
  const double beta1 = settings.beta1, beta2 = settings.beta2;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const double g = gradient[i], m = beta1 * mean[i] + (1 - beta1) * g,
                 v = beta2 * square[i] + (1 - beta2) * g * g;
    const double mean_hat = m / (1 - std::pow(beta1, settings.step)),
                 square_hat = v / (1 - std::pow(beta2, settings.step));
    mean[i] = static_cast<float>(m);
    square[i] = static_cast<float>(v);
    weight[i] = static_cast<float>(weight[i] - settings.rate * mean_hat /
                                                   (std::sqrt(square_hat) + settings.epsilon));
  }
}

}  // namespace kernels::host
