// Cuts at commas.
#include "sim/scenario/csv_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sim::scenario {

std::vector<CsvField> csv_fields(const std::string& line) {
  std::vector<CsvField> fields;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(',', at), line.size());
    const std::size_t first = std::min(line.find_first_not_of(" \t\r", at), end);
    std::size_t last = end;
    while (last > first &&
           (line[last - 1] == ' ' || line[last - 1] == '\t' || line[last - 1] == '\r'))
      --last;
    fields.push_back({line.substr(first, last - first), static_cast<int>(first) + 1});
    at = end + 1;
  }
  return fields;
}

std::optional<double> csv_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

}  // namespace sim::scenario
