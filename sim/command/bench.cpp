// maquette bench: record the predictions of a suite, compare two records.
#include "analysis/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "analysis/file.h"
#include "analysis/json.h"
#include "analysis/measures.h"
#include "sim/base/read_stream.h"
#include "sim/base/units.h"
#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/training/simulate.h"

namespace sim::command {

namespace po = boost::program_options;

namespace {

constexpr double picoseconds = 1e12;

// The scenarios of a folder and the folders in it, by name; or the file alone.
std::vector<std::filesystem::path> suite_files(const std::filesystem::path& suite) {
  if (!std::filesystem::is_directory(suite)) return {suite};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(suite)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

double cpu_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void take_quantities(const training::Result& result, analysis::BenchEntry& entry) {
  entry.quantities["iteration time [s]"] = static_cast<double>(result.iteration_ps()) / picoseconds;
  for (int c = 0; c < training::category_count; ++c) {
    const auto part = result.time[static_cast<std::size_t>(c)];
    if (part == 0) continue;
    entry.quantities[fmt::format("time {} [s]", name(static_cast<training::Category>(c)))] =
        static_cast<double>(part) / picoseconds;
  }
  if (const auto* fullest = analysis::fullest_stage(result)) {
    entry.quantities["memory [byte]"] = fullest->memory.peak().value();
  }
  entry.fingerprint = fmt::format("{:016x}", result.fingerprint);
}

analysis::BenchEntry entry_of(const std::filesystem::path& file, const std::string& name,
                              const Common& common) {
  analysis::BenchEntry entry;
  entry.scenario = name;
  const double begun = cpu_now();
  Diagnostics diagnostics;
  const auto read = scenario::read_scenario(file, common.overrides, catalog(), diagnostics);
  std::optional<LoadedJob> loaded;
  if (read) loaded = load(*read, diagnostics);
  if (!loaded) {
    for (const Diagnostic& d : diagnostics.sorted()) {
      if (d.severity == Severity::error && entry.error.empty()) entry.error = d.message;
    }
    return entry;
  }
  const auto outcome = training::simulate(loaded->job);
  if (const auto* result = std::get_if<training::Result>(&outcome)) {
    take_quantities(*result, entry);
  } else {
    entry.error = std::holds_alternative<training::TooLarge>(outcome) ? "too large" : "stuck";
  }
  entry.cpu_time_s = cpu_now() - begun;
  return entry;
}

int fail(const std::string& message, const Common& common) {
  Diagnostics diagnostics;
  diagnostics.error({}, message);
  report(diagnostics, common);
  return exit_wrong_input;
}

int record(const std::filesystem::path& suite, const po::variables_map& values,
           const Common& common) {
  std::error_code status;
  if (!std::filesystem::exists(suite, status)) {
    return fail(fmt::format("no file or folder '{}'", suite.string()), common);
  }
  if (!values.count("output")) {
    throw UsageError{"no file to write", "maquette bench record SUITE -o FILE"};
  }
  analysis::BenchRecord result;
  result.suite = suite.generic_string();
  for (const auto& file : suite_files(suite)) {
    const std::string name = file == suite ? file.filename().generic_string()
                                           : file.lexically_relative(suite).generic_string();
    result.entries.push_back(entry_of(file, name, common));
  }
  if (result.entries.empty()) return fail("no scenario in the suite", common);
  const std::string file = values["output"].as<std::string>();
  analysis::write_whole(file, analysis::bench_text(result));
  const auto wrong = std::count_if(result.entries.begin(), result.entries.end(),
                                   [](const auto& entry) { return !entry.error.empty(); });
  if (common.is_json) {
    fmt::print("{{\"scenarios\": {}, \"errors\": {}}}\n", result.entries.size(), wrong);
  } else {
    fmt::print("{} scenarios recorded, {} of them without a result\n", result.entries.size(),
               wrong);
  }
  return exit_fine;
}

analysis::BenchRecord read_record(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error(fmt::format("cannot read '{}'", file));
  try {
    return analysis::read_bench(read_stream(stream));
  } catch (const std::runtime_error& problem) {
    throw std::runtime_error(
        fmt::format("'{}' is no record of a benchmark: {}", file, problem.what()));
  }
}

double share_of(const std::string& text) {
  const auto value = parse_value(text, Dimension::percent);
  if (const double* share = std::get_if<double>(&value)) return *share;
  throw UsageError{fmt::format("'{}' is no tolerance", text), "write for example '0.5 %'"};
}

analysis::Tolerances tolerances_of(const po::variables_map& values) {
  analysis::Tolerances tolerances;
  if (values.count("cpu-tolerance")) {
    tolerances.cpu_time = share_of(values["cpu-tolerance"].as<std::string>());
  }
  if (!values.count("tolerance")) return tolerances;
  for (const std::string& text : values["tolerance"].as<std::vector<std::string>>()) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      tolerances.usual = share_of(text);
    } else {
      tolerances.by_quantity[text.substr(0, equals)] = share_of(text.substr(equals + 1));
    }
  }
  return tolerances;
}

int compare_records(const std::string& a, const std::string& b, const po::variables_map& values,
                    const Common& common) {
  const auto comparison = analysis::compare(read_record(a), read_record(b), tolerances_of(values));
  if (values.count("junit")) {
    analysis::write_whole(values["junit"].as<std::string>(),
                          analysis::comparison_junit(comparison));
  }
  if (values.count("markdown")) {
    analysis::write_whole(values["markdown"].as<std::string>(),
                          analysis::comparison_markdown(comparison));
  }
  fmt::print("{}", common.is_json ? analysis::comparison_json(comparison) + "\n"
                                  : analysis::comparison_text(comparison));
  return comparison.is_regression() ? exit_regression : exit_fine;
}

}  // namespace

int bench(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  add_common(options);
  const auto file = [] { return po::value<std::string>()->value_name("FILE"); };
  options.add_options()("output,o", file(), "record: where to");
  options.add_options()(
      "tolerance", po::value<std::vector<std::string>>()->value_name("[QUANTITY=]SHARE"),
      "compare: largest change that is none, such as '0.5 %' or 'memory [byte]=1 %' (repeatable; "
      "0 % unless given)");
  options.add_options()(
      "cpu-tolerance", po::value<std::string>()->value_name("SHARE"),
      "compare: largest growth of the processor time (not compared unless given)");
  options.add_options()("junit", file(), "compare: write JUnit's XML");
  options.add_options()("markdown", file(), "compare: write a table");
  const auto values =
      parse({"maquette bench record SUITE -o FILE | compare BEFORE AFTER [options]",
             "Records the predictions of all scenarios in a folder; compares two records and exits "
             "with 4 where something changed beyond tolerance.",
             "maquette bench record scenarios/worked -o before.bench", "arguments", 2, 3},
            options, arguments);
  if (!values) return exit_fine;
  const Common common = read_common(*values);
  const auto& words = (*values)["arguments"].as<std::vector<std::string>>();
  try {
    if (words[0] == "record" && words.size() == 2) return record(words[1], *values, common);
    if (words[0] == "compare" && words.size() == 3) {
      return compare_records(words[1], words[2], *values, common);
    }
  } catch (const std::runtime_error& problem) {
    return fail(problem.what(), common);
  }
  throw UsageError{fmt::format("'bench {}' with {} files", words[0], words.size() - 1),
                   "maquette bench record SUITE -o FILE, or maquette bench compare BEFORE AFTER"};
}

}  // namespace sim::command
