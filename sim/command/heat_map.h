// Which data ranks and stages of a scenario the slow devices hold up, and by how much.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "sim/training/simulate.h"

namespace sim::command {

struct HeatMap {
  using Cell = std::pair<int, int>;  // data rank, stage
  // Iteration time over that without stragglers, where only devices of this cell are slow. Cells
  // without slow devices are left out.
  std::map<Cell, double> slowdown;
  int stages = 1;
};

// More cells than this are not run one by one.
inline constexpr std::size_t heat_map_cells_max = 64;

// Links are in no cell, and count as normal. Nothing where no device is slow, where more than
// heat_map_cells_max cells have slow ones, and where the program is written by hand.
// REQUIRES: the job can run; `ideal_ps`: its iteration without disturbances, more than 0.
std::optional<HeatMap> heat_map(const training::Job& job, std::int64_t ideal_ps);

// A row for each data rank that has a cell, a column for each stage.
std::string heat_map_text(const HeatMap& map);

}  // namespace sim::command
