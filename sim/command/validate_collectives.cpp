// maquette validate of nccl-tests: measured collectives against predicted ones.
#include "sim/command/validate_collectives.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "analysis/collective_errors.h"
#include "calibrate/profile/network_fit.h"
#include "sim/collective/closed_form.h"
#include "sim/command/measured_group.h"
#include "sim/training/communication.h"

namespace sim::command {

namespace po = boost::program_options;
namespace profiles = calibrate::profile;

namespace {

template <class T>
std::optional<T> given(const po::variables_map& values, const char* name) {
  return values.count(name) ? std::optional<T>(values[name].as<T>()) : std::nullopt;
}

CollectiveOptions options_of(const po::variables_map& values) {
  CollectiveOptions options;
  options.cluster = given<std::string>(values, "cluster").value_or("");
  options.match = values["match"].as<std::string>();
  options.leave_one_out = given<std::string>(values, "leave-one-out").value_or("");
  options.facts.ranks = given<int>(values, "ranks");
  options.facts.hosts = given<int>(values, "hosts");
  if (const auto name = given<std::string>(values, "operation")) {
    options.facts.operation = scenario::operation_named(*name);
    if (!options.facts.operation) {
      throw UsageError{fmt::format("unknown operation '{}'", *name),
                       fmt::format("known: {}", fmt::join(scenario::operation_names(), ", "))};
    }
  }
  if (const auto text = given<std::string>(values, "nccl")) options.forced = forced_by(*text);
  return options;
}

bool holds_word(const std::string& text, const std::string& word) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) {
      return true;
    }
  }
  return false;
}

// Whether the profile names the run, or all of its table, among what it was fitted to.
bool is_in_fit(const profiles::Profile& profile, const std::string& run, const std::string& file,
               bool is_one_host) {
  const std::string table = std::filesystem::path(file).filename().string();
  for (const std::string& note : profile.notes()) {
    if (holds_word(note, run)) return true;
  }
  if (!is_one_host) return false;
  for (const profiles::FitReport& report : profile.reports()) {
    if (holds_word(report.source, table)) return true;
  }
  return false;
}

void add_rows(const scenario::CollectiveRun& run, const MeasuredGroup& group,
              const profiles::Profile& profile, const collective::Forced& forced, bool in_sample,
              analysis::CollectiveReport& report) {
  const training::Communicator communicator(*group.loaded.job.cluster, profile, group.members);
  const double factor = collective::bus_factor(run.operation, run.ranks);
  for (const scenario::MeasuredCollective& row : run.rows) {
    const auto cost = communicator.cost(run.operation, row.size, forced).second;
    const Seconds predicted(static_cast<double>(cost.lag + cost.work) * 1e-12);
    report.rows.push_back({run.id, collective::name(run.operation),
                           communicator.described(run.operation, row.size, forced), row.size,
                           run.ranks, run.hosts, row.size / row.time * factor,
                           row.size / predicted * factor, in_sample});
  }
}

void note(std::vector<std::string>& all, const std::string& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

void predict(const scenario::CollectiveRun& run, const std::string& file,
             const CollectiveOptions& options, const LoadedJob* cluster,
             analysis::CollectiveReport& report) {
  const MeasuredGroup group = cluster ? group_on(*cluster, run) : group_of(run);
  const auto skip = [&](const std::string& why) {
    report.skipped.push_back({run.id, why, static_cast<int>(run.rows.size())});
  };
  if (!group.why_not.empty()) return skip(group.why_not);
  if (run.empty_rows > 0) {
    report.skipped.push_back({run.id, "0 bytes, or no time", run.empty_rows});
  }
  const profiles::Profile& shipped =
      training::profile_of(cluster ? cluster->job : group.loaded.job, group.members.front());
  for (const std::string& assumed : group.assumed) note(report.assumed, assumed);
  if (shipped.origin() == profiles::Origin::datasheet) {
    note(report.assumed, fmt::format("{}: the datasheet and NCCL's own constants, nothing fitted",
                                     shipped.device().name));
  }
  const bool in_fit = is_in_fit(shipped, run.id, file, run.hosts == 1);
  collective::Forced forced = forced_by(run.settings);
  if (options.forced.is_any()) forced = options.forced;
  if (in_fit && run.hosts > 1 && !options.leave_one_out.empty()) {
    const auto refitted = profiles::refitted_without(shipped, options.leave_one_out, run.id);
    return add_rows(run, group, *refitted, forced, false, report);
  }
  add_rows(run, group, shipped, forced, in_fit, report);
}

}  // namespace

void add_collective_options(po::options_description& options) {
  options.add_options()("cluster", po::value<std::string>()->value_name("NAME|SCENARIO"),
                        "of nccl-tests: cluster of the catalog, or scenario, that ran them; a "
                        "table may state device and NICs itself");
  options.add_options()("operation", po::value<std::string>(),
                        "of nccl-tests: operation, where the log does not say it");
  options.add_options()("ranks", po::value<int>(),
                        "of nccl-tests: ranks, where the log does not list them");
  options.add_options()("hosts", po::value<int>(),
                        "of nccl-tests: hosts, where the log does not list the ranks");
  options.add_options()("nccl", po::value<std::string>()->value_name("SETTINGS"),
                        "of nccl-tests: what was set, such as \"NCCL_ALGO=Ring NCCL_PROTO=LL128\"");
  options.add_options()("leave-one-out", po::value<std::string>()->value_name("FOLDER"),
                        "of nccl-tests: predict each run that constants were fitted to with these "
                        "fitted again without it, from the folder of public measurements");
}

bool holds_collectives(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  return extension != ".yaml" && extension != ".yml";
}

std::optional<analysis::CollectiveReport> collective_report(const std::string& file,
                                                            const CollectiveOptions& options,
                                                            const Common& common,
                                                            Diagnostics& diagnostics) {
  const bool is_table = std::filesystem::path(file).extension() == ".csv";
  const auto runs = is_table ? scenario::read_collective_table(file, diagnostics)
                             : scenario::read_collective_log(file, options.facts, diagnostics);
  std::optional<LoadedJob> cluster;
  if (!options.cluster.empty()) cluster = load_cluster(options.cluster, common, diagnostics);
  if (diagnostics.has_errors() || !runs) return std::nullopt;
  analysis::CollectiveReport result;
  result.file = file;
  try {
    for (const scenario::CollectiveRun& run : *runs) {
      if (run.id.find(options.match) == std::string::npos) continue;
      predict(run, file, options, cluster ? &*cluster : nullptr, result);
    }
  } catch (const profiles::ProfileError& error) {
    diagnostics.error({options.leave_one_out}, error.message, error.why, error.hint);
    return std::nullopt;
  }
  return result;
}

int validate_collectives(const std::string& file, const po::variables_map& values,
                         const Common& common) {
  const CollectiveOptions options = options_of(values);
  if (options.cluster.empty() && std::filesystem::path(file).extension() != ".csv") {
    throw UsageError{"a log does not say what the hosts are joined by",
                     "name the cluster with --cluster eos, or --cluster my_scenario.yaml"};
  }
  Diagnostics diagnostics;
  const auto result = collective_report(file, options, common, diagnostics);
  if (report(diagnostics, common) || !result) return exit_wrong_input;
  if (common.is_json) {
    fmt::print("{}\n", to_json(*result));
  } else {
    fmt::print("{}", to_text(*result, values["brief"].as<bool>()));
  }
  return exit_fine;
}

}  // namespace sim::command
