// maquette profile import: logs of nccl-tests and tables of samples become part of a profile.
#include "sim/command/import_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>

#include "calibrate/profile/fit_measured.h"
#include "calibrate/profile/names.h"
#include "sim/command/options.h"
#include "sim/scenario/catalog.h"
#include "sim/scenario/measured_collectives.h"
#include "sim/scenario/sample_table.h"

namespace sim::command {

namespace po = boost::program_options;
namespace fitted = calibrate::profile;

namespace {

fitted::CollectiveKind kind_of(collective::Operation operation) {
  using enum collective::Operation;
  switch (operation) {
    case all_reduce:
      return fitted::CollectiveKind::all_reduce;
    case all_gather:
      return fitted::CollectiveKind::all_gather;
    case reduce_scatter:
      return fitted::CollectiveKind::reduce_scatter;
    case all_to_all:
      return fitted::CollectiveKind::all_to_all;
    case broadcast:
      return fitted::CollectiveKind::broadcast;
    case send_receive:
      break;
  }
  return fitted::CollectiveKind::send_receive;
}

// Samples of equal shapes in several files join.
void add(const fitted::MeasuredCase& one, fitted::Measurement& all) {
  for (fitted::MeasuredCase& known : all.cases) {
    if (describe(known) != describe(one)) continue;
    known.seconds.insert(known.seconds.end(), one.seconds.begin(), one.seconds.end());
    return;
  }
  all.cases.push_back(one);
}

// A curve of a profile is of one scale-up domain.
void add_runs(const std::vector<scenario::CollectiveRun>& runs, fitted::Measurement& all,
              Diagnostics& diagnostics) {
  for (const scenario::CollectiveRun& run : runs) {
    if (run.hosts != 1) {
      diagnostics.error(run.place, fmt::format("a test over {} hosts", run.hosts),
                        "a profile holds collectives inside one host",
                        "compare it with 'maquette validate', import logs of one host");
      continue;
    }
    for (const scenario::MeasuredCollective& row : run.rows) {
      add({"collective",
           fitted::name(kind_of(run.operation)),
           {static_cast<double>(run.ranks), row.size.value()},
           {row.time.value()}},
          all);
    }
  }
}

void read(const std::string& file, const scenario::LogFacts& facts, fitted::Measurement& all,
          Diagnostics& diagnostics) {
  const bool is_table = std::filesystem::path(file).extension() == ".csv";
  if (is_table && scenario::is_sample_table(file)) {
    const auto samples = scenario::read_sample_table(file, diagnostics);
    if (!samples) return;
    for (const fitted::MeasuredCase& one : samples->cases) add(one, all);
    return;
  }
  const auto runs = is_table ? scenario::read_collective_table(file, diagnostics)
                             : scenario::read_collective_log(file, facts, diagnostics);
  if (runs) add_runs(*runs, all, diagnostics);
}

// What the samples go into: a file, or the profile of a device of the catalog.
std::optional<fitted::ProfileData> base_of(const std::string& base, Diagnostics& diagnostics) {
  if (base.ends_with(".h5")) return fitted::read_profile_data(base);
  const auto device = scenario::read_device(base, catalog(), diagnostics);
  if (!device) return std::nullopt;
  if (device->profile.empty()) {
    throw fitted::ProfileError{fmt::format("device '{}' has no profile", base),
                               "samples of some kernels need those of all others beside them",
                               "give a device that has one, or a file, with --into"};
  }
  return fitted::read_profile_data(catalog() / "devices" / device->profile);
}

void print(const fitted::ProfileData& data, const std::string& source) {
  fmt::print("{:<36}{:>8}{:>10}{:>9}\n", "fit, on samples held out", "samples", "mean [%]",
             "p90 [%]");
  for (const fitted::FitReport& report : data.reports) {
    if (report.source.find(source) == std::string::npos || report.held_out == 0) continue;
    fmt::print("{:<36}{:>8}{:>10.1f}{:>9.1f}\n", report.family, report.held_out, 100 * report.mape,
               100 * report.p90);
  }
}

scenario::LogFacts facts_of(const po::variables_map& values) {
  scenario::LogFacts facts;
  if (values.count("ranks")) facts.ranks = values["ranks"].as<int>();
  if (values.count("ranks")) facts.hosts = 1;
  if (!values.count("operation")) return facts;
  const auto name = values["operation"].as<std::string>();
  facts.operation = scenario::operation_named(name);
  if (!facts.operation) {
    throw UsageError{fmt::format("unknown operation '{}'", name),
                     fmt::format("one of {}", fmt::join(scenario::operation_names(), ", "))};
  }
  return facts;
}

}  // namespace

int import_profile(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  options.add_options()("into", po::value<std::string>(),
                        "device of the catalog, or profile, that the samples go into");
  options.add_options()("out,o", po::value<std::string>()->default_value("imported.h5"),
                        "profile to write");
  options.add_options()("operation", po::value<std::string>(), "of a log that does not say it");
  options.add_options()("ranks", po::value<int>(), "of a log that does not say it, on one host");
  const auto values = parse(
      {"maquette profile import FILE... --into DEVICE [-o FILE]",
       "Reads logs of nccl-tests and rccl-tests inside one host, and tables of samples (op, shape, "
       "time [us]); fits them and writes the profile of DEVICE with these fits replaced.",
       "maquette profile import all_reduce.log --into h100-sxm -o my-h100.h5", "file", 1, 1000},
      options, arguments);
  if (!values) return exit_fine;
  if (!values->count("into")) {
    throw UsageError{"nothing to import into", "say it with --into h100-sxm, or --into my.h5"};
  }
  Diagnostics diagnostics;
  const scenario::LogFacts facts = facts_of(*values);
  try {
    fitted::Measurement samples;
    std::vector<std::string> names;
    for (const std::string& file : (*values)["file"].as<std::vector<std::string>>()) {
      read(file, facts, samples, diagnostics);
      names.push_back(std::filesystem::path(file).filename().string());
    }
    auto data = base_of((*values)["into"].as<std::string>(), diagnostics);
    if (report(diagnostics, {}) || !data) return exit_wrong_input;
    const std::string source = fmt::format("imported from {}", fmt::join(names, ", "));
    replace_fitted(*data, std::move(samples), source);
    const auto output = (*values)["out"].as<std::string>();
    write_profile(output, *data);
    print(*data, source);
    fmt::print("\nwrote {}\n", output);
  } catch (const fitted::ProfileError& error) {
    fmt::print(stderr, "error: {}\n  why:  {}\n  hint: {}\n", error.message, error.why, error.hint);
    return exit_wrong_input;
  }
  return exit_fine;
}

}  // namespace sim::command
