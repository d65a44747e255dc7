// Mean of a fitted Gaussian process: a smooth correction over a few features.
//
//   mean(x) = sum_i weight_i k(|z(x) - z_i|),  z = (x - centre) * scale
//   k(r) = (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r)    (Matern 5/2, unit variance)
//
// Far from every point the mean is 0: the model below it stands alone.
// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006,
// equations 2.25, 4.17.
#pragma once

#include <span>
#include <vector>

namespace calibrate::profile {

struct GaussianProcess {
  std::vector<double> centre, scale;  // [feature]
  std::vector<double> points;         // z, points[point][feature], row-major
  std::vector<double> weights;        // [point]

  // REQUIRES: as many features as `centre` has, at most 8.
  double mean(std::span<const double> features) const;
  // One weight a point, one centre and scale a feature.
  bool is_consistent(std::size_t feature_count) const;
};

double matern_five_halves(double r);

}  // namespace calibrate::profile
