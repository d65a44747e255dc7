// Monotone interpolation of duration against size.
#include "calibrate/profile/size_curve.h"

#include <algorithm>
#include <cmath>

namespace calibrate::profile {

std::vector<double> isotonic(std::vector<double> values) {
  struct Pool {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  std::size_t index = 0;
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i) values[index++] = pool.mean();
  }
  return values;
}

std::vector<double> monotone_slopes(const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t count = x.size();
  std::vector<double> secants(count - 1), slopes(count);
  for (std::size_t i = 0; i + 1 < count; ++i) secants[i] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
  slopes.front() = secants.front();
  slopes.back() = secants.back();
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double before = secants[i - 1], after = secants[i];
    if (before * after <= 0) continue;
    const double left = x[i] - x[i - 1], right = x[i + 1] - x[i];
    // Weighted harmonic mean: never steeper than three times either secant.
    const double a = 2 * right + left, b = right + 2 * left;
    slopes[i] = (a + b) / (a / before + b / after);
  }
  return slopes;
}

SizeCurve size_curve(const std::vector<double>& bytes, const std::vector<double>& seconds) {
  SizeCurve curve;
  for (const double value : bytes) curve.log_bytes.push_back(std::log(value));
  for (const double value : seconds) curve.log_seconds.push_back(std::log(value));
  curve.log_seconds = isotonic(std::move(curve.log_seconds));
  curve.slopes = monotone_slopes(curve.log_bytes, curve.log_seconds);
  return curve;
}

double SizeCurve::seconds(double bytes) const {
  const double x = std::log(bytes);
  if (x <= log_bytes.front()) return std::exp(log_seconds.front());
  if (x >= log_bytes.back()) {
    return std::exp(log_seconds.back() + std::min(slopes.back(), 1.0) * (x - log_bytes.back()));
  }
  const auto upper = std::upper_bound(log_bytes.begin(), log_bytes.end(), x);
  const auto i = static_cast<std::size_t>(upper - log_bytes.begin()) - 1;
  const double width = log_bytes[i + 1] - log_bytes[i], t = (x - log_bytes[i]) / width;
  const double s = 1 - t;  // cubic Hermite form
  return std::exp(s * s * (1 + 2 * t) * log_seconds[i] + s * s * t * width * slopes[i] +
                  t * t * (1 + 2 * s) * log_seconds[i + 1] - t * t * s * width * slopes[i + 1]);
}

bool SizeCurve::is_outside(double bytes) const {
  const double x = std::log(bytes);
  return x > log_bytes.back() + std::log(2.0);
}

bool SizeCurve::is_consistent() const {
  return log_bytes.size() >= 2 && log_seconds.size() == log_bytes.size() &&
         slopes.size() == log_bytes.size() &&
         std::adjacent_find(log_bytes.begin(), log_bytes.end(), std::greater_equal<>()) ==
             log_bytes.end();
}

}  // namespace calibrate::profile
