// maquette run: simulate a scenario.
#include <fmt/format.h>

#include <fstream>

#include "analysis/expect.h"
#include "analysis/json.h"
#include "analysis/result_file.h"
#include "analysis/summary.h"
#include "analysis/trace.h"
#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/command/refusals.h"
#include "sim/training/simulate.h"

namespace sim::command {

namespace po = boost::program_options;

namespace {

bool write_files(const training::Result& result, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    fmt::print(stderr, "error: cannot make the folder '{}': {}\n", folder.string(),
               error.message());
    return false;
  }
  try {
    analysis::write_result(result, folder / "result.h5");
    analysis::write_trace(result, folder / "trace.json.gz");
  } catch (const std::exception& problem) {
    fmt::print(stderr, "error: {}\n", problem.what());
    return false;
  }
  return true;
}

}  // namespace

int run(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  add_common(options);
  options.add_options()("out", po::value<std::string>()->value_name("DIR"),
                        "where result.h5 and trace.json.gz go (default: out/<scenario>)");
  options.add_options()("no-files", po::bool_switch(), "write no files");
  options.add_options()("no-advice", po::bool_switch(), "do not try variations of the plan");
  options.add_options()("no-fold", po::bool_switch(),
                        "run every rank, also those that provably do the same as another");
  options.add_options()("no-skip", po::bool_switch(), "run everything, also what provably repeats");
  const auto values =
      parse({"maquette run SCENARIO [options]",
             "Simulates the training iteration that a scenario file describes and "
             "prints how long it takes and where the time goes.",
             "maquette run scenarios/quickstart.yaml --set plan.tensor=4", "scenario"},
            options, arguments);
  if (!values) return exit_fine;
  const Common common = read_common(*values);
  const std::filesystem::path file = (*values)["scenario"].as<std::vector<std::string>>().front();
  Diagnostics diagnostics;
  const auto scenario = scenario::read_scenario(file, common.overrides, catalog(), diagnostics);
  std::optional<LoadedJob> loaded;
  if (scenario) loaded = load(*scenario, diagnostics);
  if (report(diagnostics, common) || !loaded) return exit_wrong_input;
  loaded->job.folds = !(*values)["no-fold"].as<bool>();
  loaded->job.skips = !(*values)["no-skip"].as<bool>();
  auto outcome = training::simulate(loaded->job);
  if (const auto* s = std::get_if<training::Stuck>(&outcome)) return stuck(*s, common);
  if (const auto* large = std::get_if<training::TooLarge>(&outcome)) {
    return too_large(*large, scenario->place("plan"), common);
  }
  auto& result = std::get<training::Result>(outcome);
  for (const Diagnostic& d : diagnostics.sorted()) result.warnings.push_back(d.message);
  if (!(*values)["no-advice"].as<bool>()) result.advice = training::advice(loaded->job, result);
  if (!(*values)["no-files"].as<bool>()) {
    const std::filesystem::path folder =
        values->count("out") ? std::filesystem::path((*values)["out"].as<std::string>())
                             : std::filesystem::path("out") / file.stem();
    if (!write_files(result, folder)) return exit_wrong_input;
  }
  fmt::print("{}", common.is_json ? analysis::to_json(result) + "\n" : analysis::summary(result));
  const auto failures = analysis::unmet(scenario->expect, *scenario, result);
  for (const std::string& failure : failures) fmt::print(stderr, "{}\n", failure);
  if (!failures.empty()) return exit_wrong_input;
  return result.fits ? exit_fine : exit_cannot_proceed;
}

}  // namespace sim::command
