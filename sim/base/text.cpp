// Values for people: four significant digits and the unit that suits the size.
#include <fmt/format.h>

#include <cmath>

#include "sim/base/unit_table.h"
#include "sim/base/units.h"

namespace sim {
namespace {

std::string four_digits(double value) {
  return std::abs(value) >= 1e4 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

double in_unit(double value, const Unit& unit) { return value * unit.over / unit.times; }

// `names` from small to large, of one dimension. A unit is left for the next one when the value,
// rounded to four digits, reaches it: 999.96 ms is 1 s.
std::string scaled(double value, const std::vector<const char*>& names, Dimension dimension) {
  const Unit* chosen = find_unit(names.front(), dimension);
  for (const char* name : names) {
    const Unit* next = find_unit(name, dimension);
    const double rounded = std::stod(fmt::format("{:.4g}", std::abs(in_unit(value, *chosen))));
    if (rounded * chosen->times / chosen->over >= next->times / next->over) chosen = next;
  }
  return fmt::format("{} {}", four_digits(in_unit(value, *chosen)), chosen->name);
}

}  // namespace

std::string to_text(Seconds value) {
  const double seconds = value.value();
  if (seconds == 0) return "0 s";
  // Minutes and hours are easier than thousands of seconds; below ten minutes nobody converts.
  if (std::abs(seconds) < 600) {
    return scaled(seconds, {"ps", "ns", "us", "ms", "s"}, Dimension::time);
  }
  return scaled(seconds, {"min", "h", "d"}, Dimension::time);
}

std::string to_text(Bytes value) {
  return scaled(value.value(), {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}, Dimension::bytes);
}

std::string to_text(BytesPerSecond value) {
  return scaled(value.value(), {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"}, Dimension::byte_rate);
}

std::string to_text(FlopsPerSecond value) {
  return scaled(value.value(), {"FLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s", "EFLOP/s"},
                Dimension::flop_rate);
}

}  // namespace sim
