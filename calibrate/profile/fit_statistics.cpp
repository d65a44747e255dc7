// Sampling, intervals and reports that every fit shares.
#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/profile/fit_parts.h"

namespace calibrate::profile {

double halton(std::size_t index, std::size_t dimension) {
  constexpr std::array<std::size_t, 5> bases{2, 3, 5, 7, 11};
  const std::size_t base = bases.at(dimension);
  double result = 0, digit = 1;
  for (std::size_t i = index + 1; i > 0; i /= base) {
    digit /= static_cast<double>(base);
    result += digit * static_cast<double>(i % base);
  }
  return result;
}

double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size() + 1)));
  return values[std::min(std::max<std::size_t>(rank, 1), values.size()) - 1];
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Interval interval_of(const std::vector<double>& bounds, const std::vector<Residual>& residuals) {
  constexpr std::size_t fewest = 8;
  std::vector<std::vector<double>> classes(bounds.size() + 1);
  std::vector<double> all;
  for (const Residual& residual : residuals) {
    const auto upper = std::upper_bound(bounds.begin(), bounds.end(), residual.size);
    classes[static_cast<std::size_t>(upper - bounds.begin())].push_back(std::abs(residual.error));
    all.push_back(std::abs(residual.error));
  }
  Interval interval{bounds, {}};
  for (const std::vector<double>& errors : classes) {
    interval.half_widths.push_back(quantile(errors.size() < fewest ? all : errors, 0.8));
  }
  return interval;
}

FitReport report_of(std::string family, std::string source, std::size_t samples,
                    const std::vector<Residual>& residuals) {
  FitReport report;
  report.family = std::move(family);
  report.source = std::move(source);
  report.samples = static_cast<int>(samples);
  report.held_out = static_cast<int>(residuals.size());
  if (residuals.empty()) return report;
  std::vector<double> sizes, errors;
  for (const Residual& residual : residuals) {
    sizes.push_back(std::abs(residual.error));
    errors.push_back(residual.error);
    report.mape += sizes.back() / static_cast<double>(residuals.size());
  }
  report.p90 = quantile(sizes, 0.9);
  report.bias = median(errors);
  return report;
}

}  // namespace calibrate::profile
