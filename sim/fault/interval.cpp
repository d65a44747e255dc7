// In the logarithm of the interval the loss is smooth and nearly a parabola at its least.
#include "sim/fault/interval.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sim::fault {
namespace {

constexpr double coarse_step = 0.35, fine_step = 0.1;  // of the natural logarithm
constexpr int coarse_steps = 6, fine_steps = 3;        // to each side
constexpr int extensions_max = 12;

// The least point of the parabola that fits evenly spaced values best, from the middle one, in
// steps; 0 where it has no least point.
double parabola_minimum(const std::vector<double>& values) {
  const int half = static_cast<int>(values.size()) / 2;
  double count = 0, second = 0, fourth = 0, sum = 0, first_moment = 0, second_moment = 0;
  for (int x = -half; x <= half; ++x) {
    const double y = values[static_cast<std::size_t>(x + half)];
    count += 1;
    second += x * x;
    fourth += static_cast<double>(x) * x * x * x;
    sum += y;
    first_moment += x * y;
    second_moment += x * x * y;
  }
  const double curvature =
      (count * second_moment - second * sum) / (count * fourth - second * second);
  if (!(curvature > 0)) return 0;
  return std::clamp(-first_moment / second / (2 * curvature), -double{1} * half, double{1} * half);
}

}  // namespace

Seconds young_interval(Seconds stall, Seconds time_to_interruption) {
  return Seconds(std::sqrt(2 * stall.value() * time_to_interruption.value()));
}

Seconds daly_interval(Seconds stall, Seconds time_to_interruption) {
  const double w = stall.value(), m = time_to_interruption.value();
  if (w >= 2 * m) return time_to_interruption;
  const double half = w / (2 * m);
  return Seconds(std::sqrt(2 * w * m) * (1 + std::sqrt(half) / 3 + half / 9) - w);
}

std::optional<Interval> best_interval(const Model& model, const Policy& policy, Rates& rates,
                                      Seconds start, int histories, const Effort& effort) {
  if (policy.ignores_failures() || model.processes.empty()) return std::nullopt;
  Model varied = model;
  const auto loss = [&](double logarithm) {
    varied.checkpoint.every = Seconds(std::exp(logarithm));
    return mean_stretch(varied, policy, rates, histories, effort);
  };
  const double middle = std::log(start.value());
  std::map<int, double> coarse;  // [steps from the start]
  for (int i = -coarse_steps; i <= coarse_steps; ++i) coarse[i] = loss(middle + i * coarse_step);
  const auto least = [&] {
    return std::min_element(coarse.begin(), coarse.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  };
  for (int i = 0; i < extensions_max; ++i) {
    const int low = coarse.begin()->first, high = coarse.rbegin()->first, best = least();
    if (best != low && best != high) break;
    const int next = best == low ? low - 1 : high + 1;
    coarse[next] = loss(middle + next * coarse_step);
  }
  const int best = least();
  if (best == coarse.begin()->first || best == coarse.rbegin()->first) return std::nullopt;
  double centre = middle + best * coarse_step;
  centre += coarse_step * parabola_minimum({coarse[best - 1], coarse[best], coarse[best + 1]});
  std::vector<double> fine;
  for (int i = -fine_steps; i <= fine_steps; ++i) fine.push_back(loss(centre + i * fine_step));
  const double found = centre + fine_step * parabola_minimum(fine);
  return Interval{Seconds(std::exp(found)), 1 / loss(found)};
}

}  // namespace sim::fault
