// Conditions on the fields of a row.
#include "sim/command/row_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <regex>
#include <sstream>

#include "sim/command/options.h"

namespace sim::command {

namespace {

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

bool holds(double a, const std::string& comparison, double b) {
  if (comparison == "=") return a == b;
  if (comparison == "<") return a < b;
  if (comparison == ">") return a > b;
  return comparison == "<=" ? a <= b : a >= b;
}

}  // namespace

RowFilter::RowFilter(const std::string& text) {
  static const std::regex pattern(R"(\s*([A-Za-z_][\w.]*)\s*(<=|>=|=|<|>)\s*(\S.*?)\s*)");
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    std::smatch found;
    const bool is_read = std::regex_match(part, found, pattern);
    if (!is_read || (found[2] != "=" && !number_of(found[3]))) {
      throw UsageError{fmt::format("--where '{}' is no condition", part),
                       "such as num_gpus<=16, pp=1 or framework=nanotron; only = takes words"};
    }
    conditions_.push_back({found[1], found[2], found[3]});
  }
}

bool RowFilter::accepts(const scenario::MeasuredRow& row) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& c) {
    const auto known = row.text(c.field);
    if (!known) return false;
    const auto a = number_of(*known), b = number_of(c.value);
    return a && b ? holds(*a, c.comparison, *b) : c.comparison == "=" && *known == c.value;
  });
}

}  // namespace sim::command
