// Fitting a Gaussian process by marginal likelihood.
#include "calibrate/profile/fit_process.h"

#include <ceres/ceres.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace calibrate::profile {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double length_least = 0.05, length_most = 55, noise_least = 0.003, noise_most = 0.5;

// Parameters: log signal, log noise, log length of each feature.
struct Hyper {
  double signal, noise;
  std::vector<double> length;
};

// An unbounded number to one between two bounds in log space, and its derivative.
double bounded(double u, double least, double most, double* derivative) {
  const double s = 1 / (1 + std::exp(-u)), width = std::log(most / least);
  *derivative = width * s * (1 - s);
  return std::log(least) + width * s;
}

double unbounded(double value, double least, double most) {
  const double s = std::log(value / least) / std::log(most / least);
  return std::log(s / (1 - s));
}

// Negative log posterior of the hyperparameters and its gradient.
class Likelihood final : public ceres::FirstOrderFunction {
 public:
  Likelihood(MatrixXd points, VectorXd values)
      : points_(std::move(points)), values_(std::move(values)) {}

  int NumParameters() const override { return static_cast<int>(points_.cols()) + 2; }
  bool Evaluate(const double* u, double* cost, double* gradient) const override;

 private:
  MatrixXd points_;
  VectorXd values_;
};

bool Likelihood::Evaluate(const double* u, double* cost, double* gradient) const {
  const Eigen::Index count = points_.rows(), dims = points_.cols();
  std::vector<double> chain(static_cast<std::size_t>(dims) + 2), logs(chain.size());
  logs[0] = bounded(u[0], 1e-3, 1.0, &chain[0]);
  logs[1] = bounded(u[1], noise_least, noise_most, &chain[1]);
  VectorXd inverse(dims);
  for (Eigen::Index d = 0; d < dims; ++d) {
    const auto i = static_cast<std::size_t>(d) + 2;
    logs[i] = bounded(u[i], length_least, length_most, &chain[i]);
    inverse[d] = std::exp(-logs[i]);
  }
  const double signal = std::exp(2 * logs[0]), noise = std::exp(2 * logs[1]);
  const MatrixXd z = points_ * inverse.asDiagonal();
  MatrixXd kernel(count, count), slope(count, count);  // slope: -(dk/dr)/r
  for (Eigen::Index j = 0; j < count; ++j) {
    for (Eigen::Index i = j; i < count; ++i) {
      const double a = std::sqrt(5.0) * (z.row(i) - z.row(j)).norm(), e = std::exp(-a);
      kernel(i, j) = kernel(j, i) = signal * (1 + a + a * a / 3) * e;
      slope(i, j) = slope(j, i) = signal * 5.0 / 3 * (1 + a) * e;
    }
  }
  MatrixXd total = kernel;
  total.diagonal().array() += noise;
  const Eigen::LLT<MatrixXd> factor(total);
  if (factor.info() != Eigen::Success) return false;
  const VectorXd weights = factor.solve(values_);
  const MatrixXd lower = factor.matrixL();
  double value = 0.5 * values_.dot(weights) + lower.diagonal().array().log().sum();
  const double noise_off = logs[1] - std::log(0.03);
  value += 0.5 * noise_off * noise_off;
  for (std::size_t i = 2; i < logs.size(); ++i) value += 0.5 * logs[i] * logs[i] / (1.5 * 1.5);
  *cost = value;
  if (!gradient) return true;
  // d value / d theta = -0.5 trace((w w^T - K^-1) dK / d theta)
  const MatrixXd q = weights * weights.transpose() - factor.solve(MatrixXd::Identity(count, count));
  gradient[0] = -q.cwiseProduct(kernel).sum() * chain[0];
  gradient[1] = (-q.trace() * noise + noise_off) * chain[1];
  const MatrixXd weighted = q.cwiseProduct(slope);
  for (Eigen::Index d = 0; d < dims; ++d) {
    const VectorXd column = z.col(d);
    const VectorXd square = column.array().square();
    // sum_ij W_ij (z_i - z_j)^2
    const double sum = 2 * (square.dot(weighted.rowwise().sum()) - column.dot(weighted * column));
    const auto i = static_cast<std::size_t>(d) + 2;
    gradient[i] = (-0.5 * sum + logs[i] / (1.5 * 1.5)) * chain[i];
  }
  return true;
}

Hyper best_hyper(const MatrixXd& points, const VectorXd& values) {
  const Eigen::Index count = points.rows(), most = 460, dims = points.cols();
  const Eigen::Index used = std::min(count, most);
  MatrixXd some(used, dims);
  VectorXd some_values(used);
  for (Eigen::Index i = 0; i < used; ++i) {
    some.row(i) = points.row(i * count / used);
    some_values[i] = values[i * count / used];
  }
  std::vector<double> u(static_cast<std::size_t>(dims) + 2,
                        unbounded(1.5, length_least, length_most));
  u[0] = unbounded(0.08, 1e-3, 1.0);
  u[1] = unbounded(0.03, noise_least, noise_most);
  ceres::GradientProblem problem(new Likelihood(some, some_values));
  ceres::GradientProblemSolver::Options options;
  options.max_num_iterations = 60;
  options.logging_type = ceres::SILENT;
  ceres::GradientProblemSolver::Summary summary;
  ceres::Solve(options, problem, u.data(), &summary);
  Hyper hyper;
  double ignored = 0;
  hyper.signal = std::exp(bounded(u[0], 1e-3, 1.0, &ignored));
  hyper.noise = std::exp(bounded(u[1], noise_least, noise_most, &ignored));
  for (std::size_t i = 2; i < u.size(); ++i) {
    hyper.length.push_back(std::exp(bounded(u[i], length_least, length_most, &ignored)));
  }
  return hyper;
}

}  // namespace

GaussianProcess fit_process(const std::vector<std::vector<double>>& features,
                            const std::vector<double>& residuals) {
  const std::size_t count = features.size(), dims = features.front().size();
  GaussianProcess process;
  MatrixXd points(count, dims);
  VectorXd values(count);
  for (std::size_t d = 0; d < dims; ++d) {
    double sum = 0, square = 0;
    for (const auto& row : features) sum += row[d];
    const double mean = sum / static_cast<double>(count);
    for (const auto& row : features) square += (row[d] - mean) * (row[d] - mean);
    const double deviation = std::max(std::sqrt(square / static_cast<double>(count)), 1e-9);
    process.centre.push_back(mean);
    process.scale.push_back(1 / deviation);
    for (std::size_t i = 0; i < count; ++i) {
      points(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(d)) =
          (features[i][d] - mean) / deviation;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    values[static_cast<Eigen::Index>(i)] = residuals[i];
  }
  const Hyper hyper = best_hyper(points, values);
  for (std::size_t d = 0; d < dims; ++d) {
    process.scale[d] /= hyper.length[d];
    points.col(static_cast<Eigen::Index>(d)) /= hyper.length[d];
  }
  MatrixXd kernel(count, count);
  const double signal = hyper.signal * hyper.signal;
  for (Eigen::Index j = 0; j < kernel.cols(); ++j) {
    for (Eigen::Index i = 0; i < kernel.rows(); ++i) {
      kernel(i, j) = signal * matern_five_halves((points.row(i) - points.row(j)).norm());
    }
  }
  kernel.diagonal().array() += hyper.noise * hyper.noise;
  const VectorXd weights = signal * Eigen::LLT<MatrixXd>(kernel).solve(values);
  process.weights.assign(weights.begin(), weights.end());
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    for (Eigen::Index d = 0; d < points.cols(); ++d) process.points.push_back(points(i, d));
  }
  return process;
}

}  // namespace calibrate::profile
