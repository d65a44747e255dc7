// The units that exist, as data, and the spellings people try instead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace sim {

// 1 unit = times / over base units. Both are exact, so a value is rounded only once more.
struct Unit {
  std::string name;
  double times = 1, over = 1;
};

struct DimensionUnits {
  Dimension dimension = Dimension::time;
  std::string noun;          // "time", "bytes per second"
  std::string usual;         // the unit offered to a bare number
  std::string example;       // "1.5 us"
  bool is_optional = false;  // a bare number is complete
  std::vector<Unit> units;
};

struct Misspelling {
  std::string text;
  Dimension dimension = Dimension::time;
  std::vector<std::string> meant;  // the likely units
  std::string why;
};

const std::vector<DimensionUnits>& all_units();
const DimensionUnits& units_of(Dimension dimension);
// Returns null where the dimension has no such unit.
const Unit* find_unit(std::string_view name, Dimension dimension);
// Returns null where nobody is known to spell it so.
const Misspelling* find_misspelling(std::string_view text, Dimension dimension);

}  // namespace sim
