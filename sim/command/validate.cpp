// maquette validate: predict measured runs and report the error, signed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/command/validate_collectives.h"
#include "sim/command/validate_memory.h"
#include "sim/scenario/measured.h"
#include "sim/training/simulate.h"

namespace sim::command {

namespace po = boost::program_options;

namespace {

struct Prediction : RowNotes {
  double measured_s = 0, predicted_s = 0;
  bool fits = true;
  double error() const { return predicted_s / measured_s - 1; }
};

Prediction predict(const scenario::MeasuredRow& row, const scenario::MeasuredFile& file,
                   const Common& common, bool shows_scenarios) {
  Prediction prediction;
  prediction.id = id_of(row);
  const auto time = row.number("iter_time_s");
  const auto derived = row.number("derived.iter_time_s");
  if (!time && !derived) {
    prediction.why_not = "the row has no measured iteration time";
    return prediction;
  }
  prediction.measured_s = time ? *time : *derived;
  const auto read = row_scenario(row, file, common, shows_scenarios, prediction);
  if (!read) return prediction;
  Diagnostics diagnostics;
  const std::optional<LoadedJob> loaded = load(*read, diagnostics);
  if (!loaded) {
    prediction.why_not = first_error(diagnostics);
    return prediction;
  }
  const auto outcome = training::simulate(loaded->job);
  if (const auto* result = std::get_if<training::Result>(&outcome)) {
    prediction.predicted_s = to_seconds(result->iteration_ps()).value();
    prediction.fits = result->fits;
  } else {
    prediction.why_not = "the simulated job cannot proceed";
  }
  return prediction;
}

struct Statistics {
  int predicted = 0, skipped = 0;
  double mean_absolute = 0, median_absolute = 0, bias = 0, worst = 0;
  std::string worst_id;
};

Statistics statistics(const std::vector<Prediction>& predictions) {
  Statistics s;
  std::vector<double> absolute;
  for (const Prediction& p : predictions) {
    if (!p.why_not.empty()) {
      ++s.skipped;
      continue;
    }
    absolute.push_back(std::abs(p.error()));
    s.bias += p.error();
    if (std::abs(p.error()) > std::abs(s.worst)) {
      s.worst = p.error();
      s.worst_id = p.id;
    }
  }
  s.predicted = static_cast<int>(absolute.size());
  if (absolute.empty()) return s;
  s.bias /= s.predicted;
  for (const double a : absolute) s.mean_absolute += a / s.predicted;
  std::sort(absolute.begin(), absolute.end());
  s.median_absolute = absolute[absolute.size() / 2];
  return s;
}

void print_json(const std::string& file, const std::vector<Prediction>& predictions,
                const Statistics& s) {
  fmt::print("{{\"file\": \"{}\", \"rows\": [", file);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const Prediction& p = predictions[i];
    fmt::print("{}{{\"id\": \"{}\", \"measured_s\": {}, ", i == 0 ? "" : ", ", p.id, p.measured_s);
    if (p.why_not.empty()) {
      fmt::print("\"predicted_s\": {}, \"error\": {}}}", p.predicted_s, p.error());
    } else {
      fmt::print("\"predicted_s\": null, \"error\": null}}");
    }
  }
  fmt::print(
      "], \"predicted\": {}, \"skipped\": {}, \"mean_absolute_percentage_error\": {}, "
      "\"median\": {}, \"bias\": {}, \"worst\": {}}}\n",
      s.predicted, s.skipped, 100 * s.mean_absolute, 100 * s.median_absolute, 100 * s.bias,
      100 * s.worst);
}

void print_table(const std::string& title, const std::vector<Prediction>& predictions,
                 const Statistics& s, bool is_brief) {
  fmt::print("{}\n", title);
  if (!is_brief) {
    fmt::print("  {:34} {:>12} {:>12} {:>8}\n", "run", "measured", "predicted", "error");
    for (const Prediction& p : predictions) {
      if (!p.why_not.empty()) {
        fmt::print("  {:34} skipped: {}\n", p.id, p.why_not);
        continue;
      }
      fmt::print("  {:34} {:>10.4f} s {:>10.4f} s {:>+6.1f} %{}\n", p.id, p.measured_s,
                 p.predicted_s, 100 * p.error(), p.fits ? "" : "  (predicted not to fit)");
    }
  }
  print_assumed(predictions);
  fmt::print(
      "  {} runs predicted, {} skipped: mean absolute error {:.1f} %, median {:.1f} %, bias "
      "{:+.1f} %, worst {:+.1f} % ({})\n",
      s.predicted, s.skipped, 100 * s.mean_absolute, 100 * s.median_absolute, 100 * s.bias,
      100 * s.worst, s.worst_id);
}

}  // namespace

int validate(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  add_common(options);
  options.add_options()("match", po::value<std::string>()->default_value(""),
                        "only rows whose id contains this text");
  options.add_options()("show-scenarios", po::bool_switch(), "print the scenario of every row");
  options.add_options()("memory", po::bool_switch(),
                        "peak memory and whether runs fit, instead of times");
  options.add_options()("brief", po::bool_switch(), "print the totals only");
  add_collective_options(options);
  const auto values = parse({"maquette validate FILE... [options]",
                             "Predicts what was measured and prints the signed error of each row "
                             "and of all. FILE is a YAML of training runs (one mapping a row), the "
                             "output of nccl-tests or rccl-tests, or a CSV table of such rows.",
                             "maquette validate all_reduce.log --cluster eos", "file", 1, 1000},
                            options, arguments);
  if (!values) return exit_fine;
  const Common common = read_common(*values);
  const std::string match = (*values)["match"].as<std::string>();
  for (const std::string& name : (*values)["file"].as<std::vector<std::string>>()) {
    if (holds_collectives(name)) {
      const int status = validate_collectives(name, *values, common);
      if (status != exit_fine) return status;
      continue;
    }
    Diagnostics diagnostics;
    const auto file = scenario::read_measured(name, diagnostics);
    if (report(diagnostics, common) || !file) return exit_wrong_input;
    const std::string title = file->title.empty() ? name : file->title;
    const bool shows_scenarios = (*values)["show-scenarios"].as<bool>();
    if ((*values)["memory"].as<bool>()) {
      const auto memory = memory_predictions(*file, match, common, shows_scenarios);
      if (common.is_json) {
        print_memory_json(name, memory);
      } else {
        print_memory(title, memory, (*values)["brief"].as<bool>());
      }
      continue;
    }
    std::vector<Prediction> predictions;
    for (const scenario::MeasuredRow& row : file->rows) {
      if (row.text("id").value_or("").find(match) == std::string::npos) continue;
      predictions.push_back(predict(row, *file, common, shows_scenarios));
    }
    const Statistics s = statistics(predictions);
    if (common.is_json) {
      print_json(name, predictions, s);
    } else {
      print_table(title, predictions, s, (*values)["brief"].as<bool>());
    }
  }
  return exit_fine;
}

}  // namespace sim::command
