// Text of physical values: "400 Gbit/s", "80 GiB", "1.5 us". Number, space, unit, always.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/quantity.h"

namespace sim {

enum class Dimension {
  time,        // base unit: second
  bytes,       // byte
  byte_rate,   // byte/s
  flop_rate,   // FLOP/s
  per_time,    // 1/s, such as a failure rate "4.7e-4 /day"
  power,       // watt
  money,       // US dollar
  percent,     // "77 %", base unit: a fraction (0.77)
  count_text,  // a large count with a decimal suffix, such as tokens: "15 T"
};

// Why a text is not a value of that dimension; `hint` shows a right spelling.
struct UnitError {
  std::string message;  // "missing unit", "unknown unit 'Gbps'", "not a number", "negative", ...
  std::string why;
  std::string hint;
};

// Returns the value in the dimension's base unit. Finite and not negative.
std::variant<double, UnitError> parse_value(std::string_view text, Dimension dimension);

// The units a dimension knows, in the order they are offered ("s", "ms", "us", ...).
std::vector<std::string> unit_names(Dimension dimension);

// The same rule as a regular expression of JSON Schema (ECMA-262).
std::string value_pattern(Dimension dimension);

// For people: four significant digits and the unit that suits the size, "13.75 s", "46.51 GiB".
std::string to_text(Seconds value);
std::string to_text(Bytes value);           // binary prefixes
std::string to_text(BytesPerSecond value);  // decimal prefixes
std::string to_text(FlopsPerSecond value);

}  // namespace sim
