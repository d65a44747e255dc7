// The layout of text for people: labelled lines and columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace analysis {

// "label                 text\n"; an empty label continues the one above.
std::string line(std::string_view label, std::string_view text);
// Four significant digits, without an exponent: "26540", "103.7", "0.01234".
std::string four_digits(double value);
// "48.83 %"
std::string percent(double share);
// "1 rank", "16 ranks"
std::string counted(std::int64_t count, std::string_view noun);

// One unit for a column of times, the one that suits the largest.
struct TimeUnit {
  const char* name;
  double picoseconds;
};
TimeUnit time_unit(std::int64_t largest_ps);
// Three digits after the point, without the unit.
std::string in_unit(std::int64_t picoseconds, const TimeUnit& unit);

}  // namespace analysis
