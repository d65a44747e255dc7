// maquette validate: predict measured runs and report the error, signed.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "analysis/json_writer.h"
#include "analysis/validation.h"
#include "sim/command/fit_stack.h"
#include "sim/command/options.h"
#include "sim/command/row_filter.h"
#include "sim/command/run_prediction.h"
#include "sim/command/validate_collectives.h"
#include "sim/command/validate_memory.h"
#include "sim/scenario/measured.h"

namespace sim::command {

namespace po = boost::program_options;

namespace {

constexpr double interval_share = 0.8;  // from the 10th to the 90th percentile

// All that is said of the predictions of a file.
struct Judgement {
  double factor = 1;
  int calibrating = 0, skipped = 0;
  analysis::ErrorStatistics errors;
  analysis::RankingStatistics ranking;
  analysis::Coverage coverage;
};

// Corrects the predictions by those whose ids `calibrating` lists, and judges the others. Returns
// nothing after reporting an id that no predicted row has.
std::optional<Judgement> judge(const std::string& file, const std::vector<std::string>& calibrating,
                               std::vector<Prediction>& predictions, Diagnostics& diagnostics) {
  for (const std::string& id : calibrating) {
    const auto found =
        std::find_if(predictions.begin(), predictions.end(),
                     [&](const Prediction& p) { return p.id == id && p.why_not.empty(); });
    if (found != predictions.end()) {
      found->run.is_calibrating = true;
      continue;
    }
    std::vector<std::string> known;
    for (const Prediction& p : predictions) {
      if (p.why_not.empty()) known.push_back(p.id);
    }
    const auto near = nearest(id, known);
    diagnostics.error({file, 0, 0, 1}, fmt::format("no predicted row '{}' to calibrate with", id),
                      "", near ? fmt::format("did you mean '{}'?", *near) : "");
  }
  if (diagnostics.has_errors()) return std::nullopt;
  std::vector<analysis::MeasuredRun> runs;
  Judgement judgement;
  for (const Prediction& p : predictions) {
    if (p.why_not.empty()) runs.push_back(p.run);
    judgement.skipped += !p.why_not.empty();
    judgement.calibrating += p.run.is_calibrating;
  }
  judgement.factor = analysis::calibrate(runs);
  judgement.errors = analysis::error_statistics(runs);
  judgement.ranking = analysis::ranking_statistics(runs);
  judgement.coverage = analysis::coverage(runs);
  auto corrected = runs.begin();
  for (Prediction& p : predictions) {
    if (p.why_not.empty()) p.run = *corrected++;
  }
  return judgement;
}

void print_json(const std::string& file, const std::vector<Prediction>& predictions,
                const Judgement& judgement) {
  analysis::JsonWriter json;
  json.open_object().member("file", file).key("rows").open_array();
  for (const Prediction& p : predictions) {
    json.open_object().member("id", p.id).member("measured_s", p.run.measured_s);
    const bool is_predicted = p.why_not.empty();
    const auto if_predicted = [&](double value) {
      return is_predicted ? std::optional(value) : std::nullopt;
    };
    json.member("predicted_s", if_predicted(p.run.predicted_s));
    json.member("error", if_predicted(is_predicted ? p.run.error() : 0));
    json.member("p10_s", p.run.p10_s).member("p90_s", p.run.p90_s);
    json.member("calibrating", p.run.is_calibrating).member("why_not", p.why_not);
    json.member("assumed", p.assumed).close_object();
  }
  const auto& s = judgement.errors;
  json.close_array().member("assumed", all_assumed(predictions));
  json.member("predicted", s.runs).member("skipped", judgement.skipped);
  json.member("calibrating", judgement.calibrating).member("factor", judgement.factor);
  const auto percents = [&](double share) {
    return s.runs > 0 ? std::optional(100 * share) : std::nullopt;
  };
  json.member("mean_absolute_percentage_error", percents(s.mean_absolute));
  json.member("median", percents(s.median_absolute)).member("bias", percents(s.bias));
  json.member("worst", percents(s.worst)).member("worst_id", s.worst_id);
  const auto& ranking = judgement.ranking;
  json.key("ranking").open_object().member("groups", ranking.groups);
  json.member("kendall_tau", ranking.kendall_tau);
  json.member("mean_regret", ranking.mean_regret).member("worst_regret", ranking.worst_regret);
  json.close_object().key("interval_coverage").open_object();
  json.member("runs", judgement.coverage.runs).member("inside", judgement.coverage.inside);
  json.member("wanted", interval_share).close_object().close_object();
  fmt::print("{}\n", json.take());
}

void print_totals(const Judgement& judgement) {
  const auto& s = judgement.errors;
  if (judgement.calibrating > 0) {
    fmt::print("  all predictions times {:.4g}, from {} measured runs that are not judged\n",
               judgement.factor, judgement.calibrating);
  }
  if (s.runs == 0) {
    fmt::print("  no run predicted, {} skipped\n", judgement.skipped);
    return;
  }
  fmt::print(
      "  {} runs predicted, {} skipped: mean absolute error {:.1f} %, median {:.1f} %, bias "
      "{:+.1f} %, worst {:+.1f} % ({})\n",
      s.runs, judgement.skipped, 100 * s.mean_absolute, 100 * s.median_absolute, 100 * s.bias,
      100 * s.worst, s.worst_id);
  const auto& ranking = judgement.ranking;
  if (ranking.kendall_tau) {
    fmt::print(
        "  order of plans of one job, {} jobs: Kendall's tau {:.2f}; the plan predicted fastest "
        "takes {:.1f} % longer than the fastest, at worst {:.1f} %\n",
        ranking.groups, *ranking.kendall_tau, 100 * ranking.mean_regret,
        100 * ranking.worst_regret);
  }
  if (const auto share = judgement.coverage.share()) {
    fmt::print("  {:.0f} % of {} runs within their interval, which is meant to hold {:.0f} %\n",
               100 * *share, judgement.coverage.runs, 100 * interval_share);
  }
}

void print_table(const std::string& title, const std::vector<Prediction>& predictions,
                 const Judgement& judgement, bool is_brief) {
  fmt::print("{}\n", title);
  if (!is_brief) {
    fmt::print("  {:34} {:>12} {:>12} {:>8}\n", "run", "measured", "predicted", "error");
    for (const Prediction& p : predictions) {
      if (!p.why_not.empty()) {
        fmt::print("  {:34} skipped: {}\n", p.id, p.why_not);
        continue;
      }
      fmt::print("  {:34} {:>10.4f} s {:>10.4f} s {:>+6.1f} %{}{}\n", p.id, p.run.measured_s,
                 p.run.predicted_s, 100 * p.run.error(), p.fits ? "" : "  (predicted not to fit)",
                 p.run.is_calibrating ? "  (calibrating)" : "");
    }
  }
  print_assumed(predictions);
  print_totals(judgement);
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> result;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) result.push_back(word);
  return result;
}

void add_run_options(po::options_description& options) {
  options.add_options()("match", po::value<std::string>()->default_value(""),
                        "only rows whose id contains this text");
  options.add_options()("where",
                        po::value<std::string>()->default_value("")->value_name("CONDITIONS"),
                        "only rows for which all of these hold, such as num_gpus<=16,pp=1");
  options.add_options()("fit", po::value<std::string>()->value_name("CONSTANTS"),
                        "search the constants of the rows' software stack that give the least mean "
                        "error, from values such as 'host_per_layer=0.5 ms,pointwise_traffic=2'");
  options.add_options()("calibrate-with",
                        po::value<std::string>()->default_value("")->value_name("IDS"),
                        "scale all predictions by the one factor that brings these rows right (ids "
                        "with commas between); they are not judged");
  options.add_options()("show-scenarios", po::bool_switch(), "print the scenario of every row");
  options.add_options()("memory", po::bool_switch(),
                        "peak memory and whether runs fit, instead of times");
  options.add_options()("brief", po::bool_switch(), "print the totals only");
}

// Returns an exit code.
int validate_runs(const std::string& name, const po::variables_map& values, const Common& common) {
  Diagnostics diagnostics;
  auto file = scenario::read_measured(name, diagnostics);
  if (report(diagnostics, common) || !file) return exit_wrong_input;
  const std::string match = values["match"].as<std::string>();
  const RowFilter where(values["where"].as<std::string>());
  std::erase_if(file->rows, [&](const scenario::MeasuredRow& row) {
    return row.text("id").value_or("").find(match) == std::string::npos || !where.accepts(row);
  });
  if (values.count("fit") > 0) return fit_stack(*file, common, values["fit"].as<std::string>());
  const std::string title = file->title.empty() ? name : file->title;
  const bool shows_scenarios = values["show-scenarios"].as<bool>();
  const bool is_brief = values["brief"].as<bool>();
  if (values["memory"].as<bool>()) {
    const auto memory = memory_predictions(*file, common, shows_scenarios);
    if (common.is_json) {
      print_memory_json(name, memory);
    } else {
      print_memory(title, memory, is_brief);
    }
    return exit_fine;
  }
  std::vector<Prediction> predictions;
  for (const scenario::MeasuredRow& row : file->rows) {
    predictions.push_back(predict(row, *file, common, shows_scenarios));
  }
  const auto judgement =
      judge(name, words(values["calibrate-with"].as<std::string>()), predictions, diagnostics);
  if (report(diagnostics, common) || !judgement) return exit_wrong_input;
  if (common.is_json) {
    print_json(name, predictions, *judgement);
  } else {
    print_table(title, predictions, *judgement, is_brief);
  }
  return exit_fine;
}

}  // namespace

int validate(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  add_common(options);
  add_run_options(options);
  add_collective_options(options);
  const auto values = parse({"maquette validate FILE... [options]",
                             "Predicts what was measured and prints the signed error of each row "
                             "and of all. FILE is a YAML of training runs (one mapping a row), the "
                             "output of nccl-tests or rccl-tests, or a CSV table of such rows.",
                             "maquette validate all_reduce.log --cluster eos", "file", 1, 1000},
                            options, arguments);
  if (!values) return exit_fine;
  const Common common = read_common(*values);
  for (const std::string& name : (*values)["file"].as<std::vector<std::string>>()) {
    const bool is_of_runs = values->count("fit") > 0 || !(*values)["where"].defaulted();
    const bool is_collectives = holds_collectives(name);
    if (is_collectives && is_of_runs) {
      throw UsageError{fmt::format("--where and --fit are for training runs, not for '{}'", name),
                       "leave them out"};
    }
    const int status = is_collectives ? validate_collectives(name, *values, common)
                                      : validate_runs(name, *values, common);
    if (status != exit_fine) return status;
  }
  return exit_fine;
}

}  // namespace sim::command
