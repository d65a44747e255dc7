// maquette replan: a straggler has appeared; what to do about it.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/command/refusals.h"
#include "sim/command/replan_text.h"
#include "sim/scenario/replanned.h"

namespace sim::command {

namespace po = boost::program_options;

namespace {

using scenario::Scenario;
using scenario::Straggler;

bool is_of_device(const Straggler& s) { return s.compute || s.memory || s.slowdown; }

void check_straggler(const Straggler& s, Diagnostics& diagnostics) {
  if (!is_of_device(s)) return;
  const bool varies = !std::holds_alternative<std::monostate>(s.course);
  if (!varies && s.from.value() == 0 && !s.to) return;
  diagnostics.error(s.place, "a device that is slow for a while only",
                    "layers and micro-batches are dealt for devices that stay as they are",
                    "write what it has of normal now, without a course");
}

void check(const Scenario& scenario, Diagnostics& diagnostics) {
  const auto* dnn = std::get_if<dnn::Transformer>(&scenario.dnn);
  if (!scenario.operations.empty()) {
    diagnostics.error(scenario.place("operations"), "operations written by hand",
                      "they have no layers to deal", "give a dnn and a plan");
    return;
  }
  for (const plan::Problem& problem :
       plan::problems_of_replanning(scenario.plan, dnn && dnn->is_moe())) {
    diagnostics.error(scenario.place(problem.field), problem.message, problem.why, problem.hint);
  }
  if (scenario.device_types.size() > 1) {
    diagnostics.error(scenario.place("cluster"), "a cluster with devices of several types",
                      "the planner knows one speed that is normal", "");
  }
  const auto& stragglers = scenario.stragglers;
  if (std::none_of(stragglers.begin(), stragglers.end(), is_of_device)) {
    diagnostics.error(scenario.place("stragglers"), "the scenario has no slow device", "",
                      "write stragglers: [{part: h0.gpu1, compute: 40 %}]");
  }
  for (const Straggler& s : stragglers) check_straggler(s, diagnostics);
}

std::vector<std::string> notes_of(const Scenario& scenario, const training::Replan& replan) {
  std::vector<std::string> notes;
  const auto& all = scenario.stragglers;
  if (std::any_of(all.begin(), all.end(), [](const Straggler& s) { return s.link || s.host; })) {
    notes.emplace_back("slow links and hosts are simulated, but not planned around");
  }
  if (!replan.fits) notes.emplace_back("the plan as it is does not fit into the memory");
  return notes;
}

bool write(const std::filesystem::path& out, const std::filesystem::path& file,
           const Common& common, const ReplanReport& report) {
  Diagnostics diagnostics;
  const auto& best = report.replan.tried[*report.replan.best];
  const auto text = scenario::replanned(file, common.overrides, best.plan.replicas, report.cluster,
                                        out.parent_path(), diagnostics);
  if (!text) {
    fmt::print(stderr, "{}", diagnostics.text());
    return false;
  }
  std::ofstream stream(out);
  stream << fmt::format("# {} with the plan of 'maquette replan': {}.\n", file.generic_string(),
                        described(best.replanning));
  if (!text->left.empty()) {
    stream << fmt::format("# Left out: {}.\n", fmt::join(text->left, ", "));
  }
  stream << text->text;
  stream.close();
  if (!stream) fmt::print(stderr, "error: cannot write '{}'\n", out.string());
  return static_cast<bool>(stream);
}

}  // namespace

int replan(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  add_common(options);
  options.add_options()("output,o", po::value<std::string>()->value_name("FILE"),
                        "write the scenario with the new plan");
  const auto values =
      parse({"maquette replan SCENARIO [options]",
             "Deals layers and micro-batches around the slow devices of a scenario, cuts tensor "
             "groups so that a slow device holds up no other, or leaves it out; simulates what "
             "can be done and prints the fastest plan.",
             "maquette replan scenarios/replan.yaml -o replanned.yaml", "scenario"},
            options, arguments);
  if (!values) return exit_fine;
  const Common common = read_common(*values);
  const std::filesystem::path file = (*values)["scenario"].as<std::vector<std::string>>().front();
  Diagnostics diagnostics;
  const auto scenario = scenario::read_scenario(file, common.overrides, catalog(), diagnostics);
  if (scenario) check(*scenario, diagnostics);
  std::optional<LoadedJob> loaded;
  if (scenario && !diagnostics.has_errors()) loaded = load(*scenario, diagnostics);
  if (loaded) {
    const auto slow = training::slowdowns(loaded->job);
    if (std::none_of(slow.begin(), slow.end(), [](double x) { return x > 1; })) {
      diagnostics.error(scenario->place("stragglers"), "no device of the plan is slow");
    }
  }
  if (report(diagnostics, common) || !loaded) return exit_wrong_input;
  const auto outcome = training::replan(loaded->job);
  if (const auto* s = std::get_if<training::Stuck>(&outcome)) return stuck(*s, common);
  if (const auto* large = std::get_if<training::TooLarge>(&outcome)) {
    return too_large(*large, scenario->place("plan"), common);
  }
  const auto& answer = std::get<training::Replan>(outcome);
  const ReplanReport report{answer, *loaded->cluster, notes_of(*scenario, answer)};
  fmt::print("{}", common.is_json ? report.json() + "\n" : report.text());
  if (!report.replan.best) return exit_cannot_proceed;
  if (!values->count("output")) return exit_fine;
  return write((*values)["output"].as<std::string>(), file, common, report) ? exit_fine
                                                                            : exit_wrong_input;
}

}  // namespace sim::command
