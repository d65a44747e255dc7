// One line of comma-separated values, with the columns in which they stand.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sim::scenario {

struct CsvField {
  std::string text;  // without blanks around it
  int column = 1;
};

// Nothing is quoted. At least one field.
std::vector<CsvField> csv_fields(const std::string& line);

// A finite number; nothing where anything else stands.
std::optional<double> csv_number(const std::string& text);

}  // namespace sim::scenario
