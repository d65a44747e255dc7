// maquette attribute: what the stragglers of a scenario cost, one by one.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/json_writer.h"
#include "sim/base/units.h"
#include "sim/command/attribute_timeline.h"
#include "sim/command/attribution.h"
#include "sim/command/heal_lengths.h"
#include "sim/command/heat_map.h"
#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/command/refusals.h"

namespace sim::command {

namespace po = boost::program_options;

namespace {

void print_text(const Attribution& attribution) {
  const auto time = [](std::int64_t picoseconds) { return to_text(to_seconds(picoseconds)); };
  fmt::print("iteration time         {}, {} without stragglers: slowdown {:.4g}\n",
             time(attribution.iteration_ps), time(attribution.ideal_ps), attribution.slowdown());
  std::size_t width = 20;
  for (const auto* list : {&attribution.one, &attribution.kinds}) {
    for (const Healed& healed : *list) width = std::max(width, healed.what.size());
  }
  const auto table = [&](const char* title, const std::vector<Healed>& list) {
    if (list.empty()) return;
    fmt::print("\n{:<{}}  {:>14}  saves of what all cost\n", title, width + 2, "iteration");
    for (const Healed& healed : list) {
      fmt::print("  {:<{}}  {:>14}  {:.1f} %\n", healed.what, width, time(healed.iteration_ps),
                 100 * attribution.explains(healed));
    }
  };
  table("healed alone", attribution.one);
  table("healed together", attribution.kinds);
}

std::string to_json(const Attribution& attribution, const std::optional<HeatMap>& map) {
  analysis::JsonWriter json;
  json.open_object();
  json.key("iteration_time_s").seconds(attribution.iteration_ps);
  json.key("ideal_iteration_time_s").seconds(attribution.ideal_ps);
  json.member("slowdown", attribution.slowdown());
  for (const auto& [name, list] :
       {std::pair("healed_alone", &attribution.one), {"healed_together", &attribution.kinds}}) {
    json.key(name).open_array();
    for (const Healed& healed : *list) {
      json.open_object().member("what", healed.what);
      json.key("iteration_time_s").seconds(healed.iteration_ps);
      json.member("saves_of_cost", attribution.explains(healed)).close_object();
    }
    json.close_array();
  }
  json.key("by_rank_and_stage").open_array();
  if (map) {
    for (const auto& [cell, slowdown] : map->slowdown) {
      json.open_object().member("data_rank", cell.first).member("stage", cell.second);
      json.member("slowdown_alone", slowdown).close_object();
    }
  }
  json.close_array();
  return json.close_object().take();
}

}  // namespace

int attribute(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  add_common(options);
  const auto values = parse({"maquette attribute SCENARIO|TIMELINE [options]",
                             "Runs a scenario with stragglers again with each of them healed, and "
                             "prints how much of the slowdown that saves. Of a recorded timeline "
                             "(trace events, .json or .json.gz) it replays the operations with "
                             "parts of them healed.",
                             "maquette attribute scenarios/stragglers.yaml", "scenario"},
                            options, arguments);
  if (!values) return exit_fine;
  const Common common = read_common(*values);
  const std::filesystem::path file = (*values)["scenario"].as<std::vector<std::string>>().front();
  if (is_timeline(file)) return attribute_timeline(file, common);
  Diagnostics diagnostics;
  const auto scenario = scenario::read_scenario(file, common.overrides, catalog(), diagnostics);
  if (scenario && scenario->stragglers.empty() && !do_lengths_vary(*scenario)) {
    diagnostics.error({file.string()}, "the scenario has no stragglers", "",
                      "write stragglers: [{part: h0.gpu1, compute: 77 %}]");
  }
  std::optional<LoadedJob> loaded;
  if (scenario) loaded = load(*scenario, diagnostics);
  if (report(diagnostics, common) || !loaded) return exit_wrong_input;
  const auto outcome = attribution(*scenario);
  if (const auto* s = std::get_if<training::Stuck>(&outcome)) return stuck(*s, common);
  if (const auto* large = std::get_if<training::TooLarge>(&outcome)) {
    return too_large(*large, scenario->place("plan"), common);
  }
  const auto& answer = std::get<Attribution>(outcome);
  const auto map = heat_map(loaded->job, answer.ideal_ps);
  if (common.is_json) {
    fmt::print("{}\n", to_json(answer, map));
  } else {
    print_text(answer);
    if (map) fmt::print("\n{}", heat_map_text(*map));
  }
  return exit_fine;
}

}  // namespace sim::command
