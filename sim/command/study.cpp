// maquette study: many scenarios, compared.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "analysis/file.h"
#include "analysis/json.h"
#include "analysis/study_claims.h"
#include "analysis/study_log.h"
#include "analysis/study_result.h"
#include "sim/base/parallel.h"
#include "sim/base/read_stream.h"
#include "sim/command/candidate.h"
#include "sim/command/options.h"
#include "sim/command/progress.h"
#include "sim/scenario/document.h"

namespace sim::command {

namespace po = boost::program_options;

namespace {

struct Options {
  Common common;
  std::filesystem::path out;  // empty: no files
  int threads = 1;
  bool resumes = false, restarts = false, shares = false;
};

// All that decides the results: study, base, options, catalog and this program.
std::uint64_t identity(const scenario::Study& study, const Common& common) {
  std::uint64_t hash = analysis::text_hash("");
  const auto add_file = [&](const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes = read_stream(stream, std::size_t{1} << 30);
    hash =
        analysis::text_hash(fmt::format("{} {}\n", file.filename().string(), bytes.size()), hash);
    hash = analysis::text_hash(bytes, hash);
  };
  add_file(study.file);
  add_file(study.base);
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(catalog(), error)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) add_file(file);
  add_file("/proc/self/exe");
  for (const scenario::Override& one : common.overrides) {
    hash = analysis::text_hash(one.path + "=" + one.value + "\n", hash);
  }
  return hash;
}

Options options_of(const po::variables_map& values, const std::filesystem::path& file) {
  Options options;
  options.common = read_common(values);
  options.threads = values["threads"].as<int>();
  options.resumes = values["resume"].as<bool>();
  options.restarts = values["restart"].as<bool>();
  if (options.threads < 1) throw UsageError{"--threads is less than 1", "leave it out for all"};
  options.shares = values["share"].as<bool>();
  if (options.shares && (options.restarts || values["no-files"].as<bool>())) {
    throw UsageError{"--share beside --restart or --no-files",
                     "processes share what lies in the folder"};
  }
  if (options.resumes && options.restarts) {
    throw UsageError{"--resume beside --restart", "one goes on, the other begins again"};
  }
  if (values["no-files"].as<bool>()) return options;
  options.out = values.count("out") ? std::filesystem::path(values["out"].as<std::string>())
                                    : std::filesystem::path("out") / file.stem();
  return options;
}

// What earlier processes finished. Reports what stands in the way.
std::optional<analysis::LogContents> earlier(const Options& options,
                                             const std::filesystem::path& logs, std::uint64_t study,
                                             Diagnostics& diagnostics) {
  const auto files = analysis::log_files(logs);
  if (options.restarts) {
    std::error_code error;
    for (const auto& file : files) std::filesystem::remove(file, error);
    return analysis::LogContents{};
  }
  if (files.empty()) return analysis::LogContents{};
  const Place place = {logs.generic_string(), 0, 0, 1};
  if (!options.resumes && !options.shares) {
    diagnostics.error(place, "logs of an earlier run", "",
                      "--resume goes on from them, --restart removes them, --out writes elsewhere");
    return std::nullopt;
  }
  auto contents = analysis::read_logs(logs, study);
  for (const std::string& file : contents.foreign) {
    diagnostics.error(
        {file, 0, 0, 1}, "the log of another study",
        "the study, its base, the catalog, an option or the program changed since, so "
        "its results cannot be mixed with new ones",
        "--restart begins again, --out writes elsewhere");
  }
  // Others may be writing one.
  if (contents.damaged_lines > 0 && !options.shares) {
    diagnostics.warning(place, fmt::format("{} records are not whole; they are made again",
                                           contents.damaged_lines));
  }
  if (!contents.foreign.empty()) return std::nullopt;
  return contents;
}

// Takes over what is known, and returns the candidates that are not.
std::vector<std::size_t> fill_in(analysis::StudyResult& result,
                                 std::map<std::int64_t, analysis::StudyRecord> known) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < result.candidates.size(); ++i) {
    const auto found = known.find(static_cast<std::int64_t>(i));
    if (found == known.end()) {
      open.push_back(i);
    } else {
      result.records[i] = std::move(found->second);
    }
  }
  return open;
}

// `claims`: where others do some of them.
void evaluate(const Options& options, analysis::StudyResult& result,
              const std::vector<std::size_t>& open, analysis::StudyLog* log,
              const analysis::StudyClaims* claims) {
  // Threads go to candidates where there are enough, else to the plans of each.
  const bool are_few = open.size() < static_cast<std::size_t>(options.threads);
  const Evaluator evaluator(result.study, options.common.overrides, are_few ? options.threads : 1);
  Progress progress("candidates", static_cast<std::int64_t>(open.size()), options.common.is_quiet);
  parallel_for(open.size(), are_few ? 1 : options.threads, [&](std::size_t n) {
    const std::size_t i = open[n];
    if (claims && !claims->claim(static_cast<std::int64_t>(i))) return;
    result.records[i] = evaluator.evaluate(static_cast<std::int64_t>(i), result.candidates[i]);
    if (log) log->append(result.records[i]);
    progress.advance();
  });
}

// Until all is known, or no other process is left that could know more; what the dead leave is done
// by those that live.
void share(const Options& options, analysis::StudyResult& result, std::vector<std::size_t> open,
           analysis::StudyLog& log, std::uint64_t study) {
  const analysis::StudyClaims claims(log.file());
  while (!open.empty()) {
    const bool had_others = claims.has_others();
    evaluate(options, result, open, &log, &claims);
    open = fill_in(result, analysis::read_logs(log.file().parent_path(), study).records);
    if (!open.empty() && had_others) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

// Of processes that a launcher started together, one prints.
bool is_first_of_launch() {
  for (const char* name : {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    const char* rank = std::getenv(name);
    if (rank && std::string_view(rank) != "0") return false;
  }
  return true;
}

void write_files(const analysis::StudyResult& result, const std::filesystem::path& folder) {
  analysis::write_whole(folder / "study.csv", analysis::study_csv(result));
  analysis::write_whole(folder / "study.json", analysis::study_json(result) + "\n");
  analysis::write_whole(folder / "study.h5", analysis::study_file(result));
  analysis::write_whole(folder / "report.html", analysis::study_html(result));
}

int failed(const std::exception& problem, const Common& common) {
  Diagnostics diagnostics;
  diagnostics.error({}, problem.what());
  report(diagnostics, common);
  return exit_wrong_input;
}

int run_study(const Options& options, analysis::StudyResult result) {
  Diagnostics diagnostics;
  std::optional<analysis::StudyLog> log;
  analysis::LogContents known;
  std::uint64_t study = 0;
  if (!options.out.empty()) {
    study = identity(result.study, options.common);
    const auto logs = options.out / "logs";
    auto found = earlier(options, logs, study, diagnostics);
    if (report(diagnostics, options.common) || !found) return exit_wrong_input;
    known = std::move(*found);
    log.emplace(logs, study);
  }
  result.records.resize(result.candidates.size());
  auto open = fill_in(result, std::move(known.records));
  if (options.shares) {
    share(options, result, std::move(open), *log, study);
  } else {
    evaluate(options, result, open, log ? &*log : nullptr, nullptr);
  }
  if (log) write_files(result, options.out);
  if (options.shares && !is_first_of_launch()) return exit_fine;
  fmt::print("{}", options.common.is_json ? analysis::study_json(result) + "\n"
                                          : analysis::study_text(result));
  return analysis::ranking(result).empty() ? exit_cannot_proceed : exit_fine;
}

}  // namespace

int study(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "compare") {
    return compare_scenarios({arguments.begin() + 1, arguments.end()});
  }
  po::options_description options("options");
  add_common(options);
  options.add_options()("out", po::value<std::string>()->value_name("DIR"),
                        "where results and logs go (default: out/<study>)");
  options.add_options()("no-files", po::bool_switch(), "write no files, so nothing to resume from");
  options.add_options()("threads", po::value<int>()->default_value(core_count())->value_name("N"),
                        "candidates that are simulated at once");
  options.add_options()("share", po::bool_switch(),
                        "take turns with other processes, on other hosts too, that are started "
                        "with the same study and --out");
  options.add_options()("resume", po::bool_switch(), "go on from the logs of an earlier run");
  options.add_options()("restart", po::bool_switch(), "remove the logs of an earlier run first");
  const auto values = parse({"maquette study STUDY [options] | compare A B [options]",
                             "Simulates every candidate of a study, and prints which are the best "
                             "and why others are out.",
                             "maquette study scenarios/studies/plans.yaml", "study"},
                            options, arguments);
  if (!values) return exit_fine;
  const std::filesystem::path file = (*values)["study"].as<std::vector<std::string>>().front();
  const Options chosen = options_of(*values, file);
  Diagnostics diagnostics;
  analysis::StudyResult result;
  auto study = scenario::read_study(file, diagnostics);
  std::optional<scenario::Value> base;
  if (study) {
    base =
        scenario::read_document(study->base, {study->base.generic_string(), 0, 0, 1}, diagnostics);
  }
  std::optional<scenario::Grid> grid;
  if (base) grid = scenario::grid(*study, *base, diagnostics);
  if (grid && grid->candidates.empty()) {
    diagnostics.error({file.generic_string(), 0, 0, 1},
                      "no candidate: the filters let none through");
  }
  if (report(diagnostics, chosen.common) || !grid) return exit_wrong_input;
  result.study = std::move(*study);
  result.candidates = std::move(grid->candidates);
  result.filtered = grid->filtered;
  try {
    return run_study(chosen, std::move(result));
  } catch (const std::runtime_error& problem) {
    return failed(problem, chosen.common);
  }
}

}  // namespace sim::command
