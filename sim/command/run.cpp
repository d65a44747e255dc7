// maquette run: simulate a scenario.
#include <fmt/format.h>

#include <fstream>

#include "analysis/expect.h"
#include "analysis/job_file.h"
#include "analysis/job_summary.h"
#include "analysis/json.h"
#include "analysis/result_file.h"
#include "analysis/summary.h"
#include "analysis/trace.h"
#include "sim/base/parallel.h"
#include "sim/command/job_time.h"
#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/command/refusals.h"
#include "sim/fault/engine_rates.h"
#include "sim/training/simulate.h"

namespace sim::command {

namespace po = boost::program_options;

namespace {

bool write_files(const training::Result& result, const std::optional<fault::Outlook>& outlook,
                 const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    fmt::print(stderr, "error: cannot make the folder '{}': {}\n", folder.string(),
               error.message());
    return false;
  }
  try {
    analysis::write_result(result, folder / "result.h5", outlook);
    analysis::write_trace(result, folder / "trace.json.gz");
    if (outlook) {
      analysis::write_job_trace(result.scenario, *outlook, folder / "job-trace.json.gz");
    }
  } catch (const std::exception& problem) {
    fmt::print(stderr, "error: {}\n", problem.what());
    return false;
  }
  return true;
}

JobTimeOptions job_time_options(const po::variables_map& values, const Common& common) {
  const int threads = values.count("threads") ? values["threads"].as<int>() : core_count();
  if (threads < 1 || threads > 1024) {
    throw UsageError{fmt::format("--threads {}", threads), "write a number from 1 to 1024"};
  }
  return {threads, !common.is_quiet};
}

int state_cannot_run(const fault::StateCannotRun& problem, const Place& place,
                     const Common& common) {
  Diagnostics diagnostics;
  diagnostics.error(place, problem.what(), "failures bring the job there",
                    "write policy: restart, or a plan that can be run with fewer replicas");
  report(diagnostics, common);
  return exit_cannot_proceed;
}

void print(const training::Result& result, const std::optional<fault::Outlook>& outlook,
           const Common& common) {
  if (common.is_json) {
    fmt::print("{}\n", analysis::to_json(result, outlook));
    return;
  }
  fmt::print("{}", analysis::summary(result));
  if (outlook) fmt::print("{}", analysis::job_summary(*outlook));
}

}  // namespace

int run(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  add_common(options);
  options.add_options()("out", po::value<std::string>()->value_name("DIR"),
                        "where result.h5 and trace.json.gz go, and job-trace.json.gz of a job with "
                        "failures (default: out/<scenario>)");
  options.add_options()("no-files", po::bool_switch(), "write no files");
  options.add_options()("no-advice", po::bool_switch(), "do not try variations of the plan");
  options.add_options()("threads", po::value<int>()->value_name("N"),
                        "for the histories of a job with failures (default: all cores); the "
                        "numbers do not depend on it");
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
  std::optional<fault::Outlook> outlook;
  if (scenario->job_time.is_asked()) {
    try {
      outlook = job_outlook(*scenario, *loaded, result, job_time_options(*values, common));
    } catch (const fault::StateCannotRun& problem) {
      return state_cannot_run(problem, scenario->place("recovery.policy"), common);
    }
  }
  if (!(*values)["no-files"].as<bool>()) {
    const std::filesystem::path folder =
        values->count("out") ? std::filesystem::path((*values)["out"].as<std::string>())
                             : std::filesystem::path("out") / file.stem();
    if (!write_files(result, outlook, folder)) return exit_wrong_input;
  }
  print(result, outlook, common);
  const auto failures = analysis::unmet(scenario->expect, *scenario, result);
  for (const std::string& failure : failures) fmt::print(stderr, "{}\n", failure);
  if (!failures.empty()) return exit_wrong_input;
  return result.fits ? exit_fine : exit_cannot_proceed;
}

}  // namespace sim::command
