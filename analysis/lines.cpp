// Labels, digits, units of columns.
#include "analysis/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr int label_width = 23;

}  // namespace

std::string line(std::string_view label, std::string_view text) {
  return fmt::format("{:<{}}{}\n", label, label_width, text);
}

std::string four_digits(double value) {
  const double magnitude = std::abs(value);
  if (!(magnitude > 0) || magnitude >= 1000) return fmt::format("{:.0f}", value);
  const int before_point = static_cast<int>(std::floor(std::log10(magnitude))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(4 - before_point, 0, 9));
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

TimeUnit time_unit(std::int64_t largest_ps) {
  if (largest_ps >= 10'000'000'000'000) return {"s", 1e12};
  if (largest_ps >= 10'000'000'000) return {"ms", 1e9};
  return {"us", 1e6};
}

std::string in_unit(std::int64_t picoseconds, const TimeUnit& unit) {
  return fmt::format("{:.3f}", static_cast<double>(picoseconds) / unit.picoseconds);
}

}  // namespace analysis
