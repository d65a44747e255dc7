// Runs the job again for each cell, with the slow devices of that cell alone.
#include "sim/command/heat_map.h"

#include <fmt/format.h>

#include <set>

#include "sim/plan/rank_grid.h"

namespace sim::command {

using training::Disturbance;

std::optional<HeatMap> heat_map(const training::Job& job, std::int64_t ideal_ps) {
  if (!job.operations.empty()) return std::nullopt;
  const plan::RankGrid grid(job.plan);
  const auto cell_of = [&](const Disturbance& d) -> std::optional<HeatMap::Cell> {
    if (d.kind == Disturbance::Kind::link || !grid.holds(d.index)) return std::nullopt;
    const auto at = grid.coordinates(d.index);
    return HeatMap::Cell{at.data, at.pipeline};
  };
  std::set<HeatMap::Cell> cells;
  for (const Disturbance& d : job.disturbances) {
    if (const auto cell = cell_of(d)) cells.insert(*cell);
  }
  if (cells.empty() || cells.size() > heat_map_cells_max) return std::nullopt;
  HeatMap map;
  map.stages = job.plan.stages;
  for (const HeatMap::Cell& cell : cells) {
    training::Job alone = job;
    std::erase_if(alone.disturbances, [&](const Disturbance& d) { return cell_of(d) != cell; });
    const auto outcome = training::simulate(alone);
    const auto* result = std::get_if<training::Result>(&outcome);
    if (!result) return std::nullopt;
    map.slowdown[cell] =
        static_cast<double>(result->iteration_ps()) / static_cast<double>(ideal_ps);
  }
  return map;
}

std::string heat_map_text(const HeatMap& map) {
  std::string text = "slowdown by the devices of one data rank and stage, all others healed\n";
  text += fmt::format("{:22}", "");
  for (int stage = 0; stage < map.stages; ++stage) text += fmt::format("  stage {:<3}", stage);
  text += "\n";
  std::set<int> rows;
  for (const auto& [cell, slowdown] : map.slowdown) rows.insert(cell.first);
  for (const int row : rows) {
    text += fmt::format("  {:<20}", fmt::format("data rank {}", row));
    for (int stage = 0; stage < map.stages; ++stage) {
      const auto found = map.slowdown.find({row, stage});
      text += fmt::format("  {:<9}",
                          found == map.slowdown.end() ? "-" : fmt::format("{:.3f}", found->second));
    }
    text += "\n";
  }
  return text;
}

}  // namespace sim::command
