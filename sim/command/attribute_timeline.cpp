// What makes a recorded run slow, as text and as JSON.
#include "sim/command/attribute_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/json_writer.h"
#include "analysis/timeline_attribution.h"
#include "sim/base/units.h"

namespace sim::command {
namespace {

using analysis::HealedPart;
using analysis::TimelineAttribution;
using analysis::TimelineWorker;

std::string time(Picoseconds picoseconds) { return to_text(to_seconds(picoseconds)); }

void print_parts(const TimelineAttribution& a, const char* title,
                 const std::vector<HealedPart>& parts) {
  std::size_t width = 26;
  for (const HealedPart& part : parts) width = std::max(width, part.what.size());
  fmt::print("\n{:<{}}  {:>14}  {:>10}  all others healed\n", title, width + 2, "healed", "saves");
  for (const HealedPart& part : parts) {
    fmt::print("  {:<{}}  {:>14}  {:>8.1f} %  {:.3f}\n", part.what, width, time(part.without),
               100 * a.explains(part.without), a.slowdown(part.alone));
  }
}

// A row for each data and tensor rank, a column for each stage.
void print_heat_map(const TimelineAttribution& a) {
  std::map<std::pair<int, int>, std::map<int, double>> rows;
  std::set<int> stages;
  for (std::size_t w = 0; w < a.ranks.size(); ++w) {
    const TimelineWorker& ranks = a.ranks[w];
    rows[{ranks.data, ranks.tensor}][ranks.stage] = a.slowdown(a.workers[w].alone);
    stages.insert(ranks.stage);
  }
  fmt::print("\nslowdown by one worker, all others healed\n{:26}", "");
  for (const int stage : stages) fmt::print("  stage {:<3}", stage);
  for (const auto& [row, columns] : rows) {
    fmt::print("\n  {:<24}", fmt::format("data {}, tensor {}", row.first, row.second));
    for (const int stage : stages) {
      const auto found = columns.find(stage);
      fmt::print("  {:<9}", found == columns.end() ? "-" : fmt::format("{:.3f}", found->second));
    }
  }
  fmt::print("\n");
}

void print_text(const TimelineAttribution& a) {
  fmt::print("iteration time         {} recorded, {} without pauses between operations\n",
             time(a.recorded), time(a.replayed));
  fmt::print("ideal                  {}: slowdown {:.4g}\n", time(a.ideal), a.slowdown(a.replayed));
  fmt::print("slowest workers        {} of {} explain {:.1f} %\n", a.slowest.size(),
             a.workers.size(), 100 * a.explains(a.without_slowest));
  print_parts(a, "by operation", a.types);
  print_parts(a, "by stage", a.stages);
  print_parts(a, "by data rank", a.data);
  print_heat_map(a);
}

std::string to_json(const TimelineAttribution& a) {
  analysis::JsonWriter json;
  json.open_object();
  json.key("recorded_iteration_time_s").seconds(a.recorded);
  json.key("iteration_time_s").seconds(a.replayed);
  json.key("ideal_iteration_time_s").seconds(a.ideal);
  json.member("slowdown", a.slowdown(a.replayed));
  json.key("slowest_workers").open_object().key("workers").open_array();
  for (const int w : a.slowest) json.value(a.workers[static_cast<std::size_t>(w)].what);
  json.close_array().key("iteration_time_s").seconds(a.without_slowest);
  json.member("saves_of_cost", a.explains(a.without_slowest)).close_object();
  for (const auto& [name, parts] : {std::pair("by_operation", &a.types),
                                    {"by_stage", &a.stages},
                                    {"by_data_rank", &a.data},
                                    {"by_worker", &a.workers}}) {
    json.key(name).open_array();
    for (const HealedPart& part : *parts) {
      json.open_object().member("what", part.what);
      json.key("iteration_time_s").seconds(part.without);
      json.member("saves_of_cost", a.explains(part.without));
      json.member("slowdown_alone", a.slowdown(part.alone)).close_object();
    }
    json.close_array();
  }
  return json.close_object().take();
}

}  // namespace

bool is_timeline(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

int attribute_timeline(const std::filesystem::path& file, const Common& common) {
  if (!common.overrides.empty()) {
    throw UsageError{"--set of a timeline", "a recorded timeline has no fields to set"};
  }
  Diagnostics diagnostics;
  const auto timeline = analysis::read_timeline(file, diagnostics);
  if (report(diagnostics, common) || !timeline) return exit_wrong_input;
  const auto outcome = analysis::attribute(*timeline);
  if (const auto* stuck = std::get_if<analysis::TimelineStuck>(&outcome)) {
    diagnostics.error({file.generic_string()}, stuck->who,
                      "the workers do not come to them in one order", "record whole steps");
    report(diagnostics, common);
    return exit_wrong_input;
  }
  const auto& answer = std::get<TimelineAttribution>(outcome);
  if (common.is_json) {
    fmt::print("{}\n", to_json(answer));
  } else {
    print_text(answer);
  }
  return exit_fine;
}

}  // namespace sim::command
