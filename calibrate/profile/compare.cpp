// Two measurements, shape by shape.
#include "calibrate/profile/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace calibrate::profile {
namespace {

constexpr double errors_beyond = 4;
// Of a median against a mean, of normal samples; a MAD against a standard deviation.
constexpr double median_penalty = 1.2533, sigmas_per_mad = 1.4826;
constexpr std::size_t shapes_shown = 20;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mad_of(const std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  return median_of(std::move(deviations));
}

double relative_spread(const MeasuredCase& one) {
  return sigmas_per_mad * mad_of(one.seconds) / median_of(one.seconds);
}

double standard_error(double spread, std::size_t samples) {
  return median_penalty * spread / std::sqrt(static_cast<double>(samples));
}

struct Pair {
  const MeasuredCase* before;
  const MeasuredCase* after;
};

OperationChange change_of(const std::string& operation, const std::vector<Pair>& pairs,
                          std::vector<ShapeChange>& beyond) {
  std::vector<double> spreads, logs;
  for (const Pair& pair : pairs) {
    spreads.push_back(relative_spread(*pair.before));
    spreads.push_back(relative_spread(*pair.after));
  }
  const double usual = median_of(spreads);
  OperationChange change{.operation = operation, .shapes = pairs.size()};
  for (const Pair& pair : pairs) {
    ShapeChange shape{.after = *pair.after};
    shape.ratio = median_of(pair.after->seconds) / median_of(pair.before->seconds);
    shape.noise = std::hypot(
        standard_error(std::max(usual, relative_spread(*pair.before)), pair.before->seconds.size()),
        standard_error(std::max(usual, relative_spread(*pair.after)), pair.after->seconds.size()));
    const double log = std::log(shape.ratio);
    logs.push_back(log);
    shape.is_beyond_noise =
        std::abs(log) > std::max(errors_beyond * shape.noise, std::log1p(change_least));
    if (!shape.is_beyond_noise) continue;
    ++(log > 0 ? change.slower : change.faster);
    beyond.push_back(shape);
  }
  const double middle = median_of(logs);
  change.ratio = std::exp(middle);
  // Shapes differ among themselves, and each has its noise.
  change.noise = standard_error(std::max(sigmas_per_mad * mad_of(logs), usual), logs.size());
  const double limit = std::max(errors_beyond * change.noise, std::log1p(change_least));
  change.is_slower = middle > limit;
  change.is_faster = middle < -limit;
  return change;
}

}  // namespace

bool Comparison::is_slower() const {
  return std::any_of(operations.begin(), operations.end(),
                     [](const OperationChange& one) { return one.is_slower; });
}

Comparison compare(const Measurement& before, const Measurement& after) {
  const auto key = [](const MeasuredCase& one) { return one.family + " " + one.operation; };
  std::map<std::pair<std::string, std::vector<double>>, const MeasuredCase*> known;
  for (const MeasuredCase& one : before.cases) known[{key(one), one.shape}] = &one;
  std::map<std::string, std::vector<Pair>> operations;
  Comparison comparison;
  std::size_t matched = 0;
  for (const MeasuredCase& one : after.cases) {
    const auto found = known.find({key(one), one.shape});
    if (found == known.end()) continue;
    operations[key(one)].push_back({found->second, &one});
    ++matched;
  }
  comparison.unmatched = before.cases.size() + after.cases.size() - 2 * matched;
  for (const auto& [operation, pairs] : operations) {
    comparison.operations.push_back(change_of(operation, pairs, comparison.shapes));
  }
  std::stable_sort(comparison.shapes.begin(), comparison.shapes.end(),
                   [](const ShapeChange& a, const ShapeChange& b) { return a.ratio > b.ratio; });
  return comparison;
}

std::string describe(const Comparison& comparison) {
  std::string text = fmt::format("{:<28}{:>7}{:>12}{:>12}{:>8}{:>8}\n", "operation", "shapes",
                                 "change [%]", "noise [%]", "slower", "faster");
  for (const OperationChange& one : comparison.operations) {
    text += fmt::format("{:<28}{:>7}{:>+12.1f}{:>12.1f}{:>8}{:>8}{}\n", one.operation, one.shapes,
                        100 * (one.ratio - 1), 100 * one.noise, one.slower, one.faster,
                        one.is_slower   ? "  SLOWER"
                        : one.is_faster ? "  faster"
                                        : "");
  }
  if (comparison.unmatched > 0) {
    text += fmt::format("{} shapes stand in one profile only\n", comparison.unmatched);
  }
  if (comparison.shapes.empty()) return text + "no shape differs beyond noise\n";
  text += "\nshapes beyond noise             change [%]\n";
  for (std::size_t i = 0; i < std::min(shapes_shown, comparison.shapes.size()); ++i) {
    const ShapeChange& one = comparison.shapes[i];
    text += fmt::format("  {:<40}{:>+8.1f} +- {:.1f}\n", describe(one.after), 100 * (one.ratio - 1),
                        100 * one.noise);
  }
  if (comparison.shapes.size() > shapes_shown) {
    text += fmt::format("  and {} more\n", comparison.shapes.size() - shapes_shown);
  }
  return text;
}

}  // namespace calibrate::profile
