// maquette report: a run, or two side by side, as a page.
#include <fmt/format.h>

#include "analysis/file.h"
#include "analysis/json_writer.h"
#include "analysis/result_file.h"
#include "analysis/run_page.h"
#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/command/refusals.h"
#include "sim/training/simulate.h"

namespace sim::command {

namespace po = boost::program_options;

namespace {

bool is_result(const std::filesystem::path& file) { return file.extension() == ".h5"; }

// Of a scenario: it is run. Puts the exit code into `status` where there is no result.
std::optional<training::Result> result_of(const std::filesystem::path& file, const Common& common,
                                          int& status) {
  Diagnostics diagnostics;
  status = exit_wrong_input;
  if (is_result(file)) {
    try {
      auto result = analysis::read_result(file);
      if (common.overrides.empty()) return result;
      diagnostics.error({file.string(), 0, 0, 1}, "--set beside a result",
                        "only a scenario can be changed");
    } catch (const std::runtime_error& problem) {
      diagnostics.error({file.string(), 0, 0, 1}, problem.what(), "",
                        "maquette run SCENARIO writes out/<scenario>/result.h5");
    }
    report(diagnostics, common);
    return std::nullopt;
  }
  const auto scenario = scenario::read_scenario(file, common.overrides, catalog(), diagnostics);
  std::optional<LoadedJob> loaded;
  if (scenario) loaded = load(*scenario, diagnostics);
  if (report(diagnostics, common) || !loaded) return std::nullopt;
  auto outcome = training::simulate(loaded->job);
  if (const auto* s = std::get_if<training::Stuck>(&outcome)) {
    status = stuck(*s, common);
    return std::nullopt;
  }
  if (const auto* large = std::get_if<training::TooLarge>(&outcome)) {
    status = too_large(*large, scenario->place("plan"), common);
    return std::nullopt;
  }
  auto& result = std::get<training::Result>(outcome);
  for (const Diagnostic& d : diagnostics.sorted()) result.warnings.push_back(d.message);
  return std::move(result);
}

std::filesystem::path page_of(const std::vector<std::string>& files,
                              const po::variables_map& values) {
  if (values.count("output")) return values["output"].as<std::string>();
  const std::filesystem::path first = files.front();
  const auto folder =
      is_result(first) ? first.parent_path() : std::filesystem::path("out") / first.stem();
  return folder / (files.size() == 1 ? "report.html" : "side-by-side.html");
}

}  // namespace

int write_report(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  add_common(options);
  options.add_options()(
      "output,o", po::value<std::string>()->value_name("FILE"),
      "where to (default: report.html beside the result, or in out/<scenario>; of "
      "two runs side-by-side.html)");
  const auto values =
      parse({"maquette report RESULT [RESULT] [options]",
             "Writes a page that needs no network: timeline, critical path, memory and links of a "
             "run, or of two side by side. RESULT is a result.h5, or a scenario, which is run.",
             "maquette report out/quickstart/result.h5", "result", 1, 2},
            options, arguments);
  if (!values) return exit_fine;
  const Common common = read_common(*values);
  const auto& files = (*values)["result"].as<std::vector<std::string>>();
  std::vector<training::Result> results;
  for (const std::string& file : files) {
    int status = exit_fine;
    auto result = result_of(file, common, status);
    if (!result) return status;
    results.push_back(std::move(*result));
  }
  std::vector<const training::Result*> shown;
  for (const training::Result& result : results) shown.push_back(&result);
  const std::filesystem::path page = page_of(files, *values);
  try {
    if (page.has_parent_path()) std::filesystem::create_directories(page.parent_path());
    analysis::write_whole(page, analysis::run_html(shown));
  } catch (const std::exception& problem) {
    Diagnostics diagnostics;
    diagnostics.error({page.string(), 0, 0, 1}, problem.what());
    report(diagnostics, common);
    return exit_wrong_input;
  }
  if (common.is_json) {
    analysis::JsonWriter json;
    fmt::print("{}\n", json.open_object().member("page", page.string()).close_object().take());
  } else {
    fmt::print("{}\n", page.string());
  }
  return exit_fine;
}

}  // namespace sim::command
