// Mean of a fitted Gaussian process.
#include "calibrate/profile/gaussian_process.h"

#include <array>
#include <cmath>

#include "sim/base/invariant.h"

namespace calibrate::profile {

double matern_five_halves(double r) {
  const double a = std::sqrt(5.0) * r;
  return (1 + a + a * a / 3) * std::exp(-a);
}

double GaussianProcess::mean(std::span<const double> features) const {
  const std::size_t count = centre.size();
  std::array<double, 8> z{};
  sim::invariant(features.size() == count && count <= z.size(), "features fit the process");
  for (std::size_t i = 0; i < count; ++i) z[i] = (features[i] - centre[i]) * scale[i];
  double sum = 0;
  const double* point = points.data();
  for (const double weight : weights) {
    double square = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double difference = z[i] - point[i];
      square += difference * difference;
    }
    sum += weight * matern_five_halves(std::sqrt(square));
    point += count;
  }
  return sum;
}

bool GaussianProcess::is_consistent(std::size_t feature_count) const {
  return centre.size() == feature_count && scale.size() == feature_count &&
         points.size() == weights.size() * feature_count;
}

}  // namespace calibrate::profile
