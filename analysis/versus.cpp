// Normal errors with a common part; bisection.
#include "analysis/versus.h"

#include <algorithm>
#include <cmath>

namespace analysis {

Uncertain uncertain(double value, const sim::training::Interval& interval) {
  return {
      value,         interval.jitter, interval.device_type, interval.families, interval.software,
      interval.stack};
}

namespace {

double variance_of(double a, double b, bool is_shared) {
  return is_shared ? std::pow(a - b, 2) : a * a + b * b;
}

}  // namespace

double probability_less(const Uncertain& a, const Uncertain& b) {
  double variance = std::pow(a.value * a.jitter, 2) + std::pow(b.value * b.jitter, 2);
  for (std::size_t f = 0; f < a.families.size(); ++f) {
    variance += variance_of(a.value * a.families[f], b.value * b.families[f],
                            a.device_type == b.device_type);
  }
  variance += variance_of(a.value * a.software, b.value * b.software, a.stack == b.stack);
  const double difference = b.value - a.value;
  if (difference == 0) return 0.5;
  if (variance == 0) return difference > 0 ? 1 : 0;
  return 0.5 * std::erfc(-difference / std::sqrt(2 * variance));
}

std::optional<double> break_even(const std::function<std::optional<double>(double)>& time,
                                 double wanted, double least, double most) {
  const auto at_least = time(least), at_most = time(most);
  if (!at_least || !at_most) return std::nullopt;
  if (wanted < std::min(*at_least, *at_most) || wanted > std::max(*at_least, *at_most)) {
    return std::nullopt;
  }
  const bool falls = *at_least > *at_most;
  constexpr double precision = 1e-3;
  while (most / least > 1 + precision) {
    const double middle = std::sqrt(least * most);
    const auto found = time(middle);
    if (!found) return std::nullopt;
    ((*found > wanted) == falls ? least : most) = middle;
  }
  return falls ? most : least;
}

}  // namespace analysis
