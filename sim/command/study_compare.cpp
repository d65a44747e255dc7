// maquette study compare: two scenarios against each other.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/json_writer.h"
#include "analysis/lines.h"
#include "analysis/versus.h"
#include "sim/base/units.h"
#include "sim/command/candidate.h"
#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/scenario/document.h"
#include "sim/scenario/override.h"
#include "sim/scenario/study_axes.h"

namespace sim::command {

namespace po = boost::program_options;
using analysis::StudyRecord;
using analysis::Verdict;
using scenario::Measure;

namespace {

constexpr const char* usual_path = "cluster.fabric.link";
// How far a field is moved at most to find where the two break even.
constexpr double factor_max = 16;

struct Side {
  std::string letter, file;
  scenario::Study study;  // of nothing but this scenario
  scenario::Candidate candidate;
  StudyRecord record;

  bool has_run() const { return record.iteration_ps > 0; }
  double seconds_per_token() const { return 1 / record.tokens_per_second; }
};

// The value of a field at which a side is as fast as the other.
struct BreakEven {
  std::string letter, path, unit;
  double now = 0;
  std::optional<double> value;
};

struct Comparison {
  Side a, b;
  std::vector<BreakEven> break_even;

  const Side& faster() const { return a.seconds_per_token() <= b.seconds_per_token() ? a : b; }
  const Side& slower() const { return &faster() == &a ? b : a; }
  double probability() const {
    return analysis::probability_less(
        analysis::uncertain(faster().seconds_per_token(), faster().record.interval),
        analysis::uncertain(slower().seconds_per_token(), slower().record.interval));
  }
  bool has_interval() const { return a.record.interval.p90_s > 0 && b.record.interval.p90_s > 0; }
  // Cost per hour of the slower : that of the faster, at which both have the same tokens per
  // dollar.
  double price_ratio() const { return faster().seconds_per_token() / slower().seconds_per_token(); }
};

Side side_of(const std::string& letter, const std::string& file, const std::string& option,
             const po::variables_map& values, const Common& common) {
  Side side;
  side.letter = letter;
  side.file = file;
  side.study.base = file;
  side.study.objectives = {Measure::tokens_per_second};
  side.candidate.overrides = common.overrides;
  if (values.count(option)) {
    for (auto& own : read_overrides(values[option].as<std::vector<std::string>>(), "--" + option)) {
      side.candidate.overrides.push_back(std::move(own));
    }
  }
  for (const auto& one : side.candidate.overrides) side.candidate.shown.push_back(one.value);
  return side;
}

bool is_loadable(const Side& side, Diagnostics& diagnostics) {
  const auto read =
      scenario::read_scenario(side.study.base, side.candidate.overrides, catalog(), diagnostics);
  return read && load(*read, diagnostics);
}

StudyRecord evaluated(const Side& side, const scenario::Candidate& candidate) {
  return Evaluator(side.study, {}, 1).evaluate(0, candidate);
}

// What the scenario writes there, with its overrides. Nothing where it writes no number.
std::optional<scenario::NumberText> number_at(const Side& side, const std::string& path) {
  Diagnostics diagnostics;
  auto root = scenario::read_document(side.study.base, {side.file, 0, 0, 1}, diagnostics);
  if (!root) return std::nullopt;
  for (const auto& one : side.candidate.overrides) scenario::apply(one, *root, diagnostics);
  const scenario::Value* value = scenario::at_path(*root, path);
  if (!value || value->kind != scenario::Value::Kind::text) return std::nullopt;
  auto number = scenario::number_text(value->text);
  return number && number->number > 0 ? number : std::nullopt;
}

BreakEven break_even_of(const Side& side, const std::string& path,
                        const scenario::NumberText& number, double seconds_per_token) {
  BreakEven result = {side.letter, path, number.unit, number.number, std::nullopt};
  const auto time = [&](double factor) -> std::optional<double> {
    scenario::Candidate changed = side.candidate;
    std::string value = fmt::format("{:.9g}", number.number * factor);
    if (!number.unit.empty()) value += " " + number.unit;
    changed.overrides.push_back({path, value});
    changed.shown.push_back(value);
    const StudyRecord record = evaluated(side, changed);
    if (record.iteration_ps == 0) return std::nullopt;
    return 1 / record.tokens_per_second;
  };
  const auto factor = analysis::break_even(time, seconds_per_token, 1 / factor_max, factor_max);
  if (factor) result.value = number.number * *factor;
  return result;
}

// Reports fields that the user asks for and a scenario does not write.
void find_break_even(Comparison& comparison, const po::variables_map& values,
                     Diagnostics& diagnostics) {
  const bool is_asked = values.count("break-even") > 0;
  const auto paths = is_asked ? values["break-even"].as<std::vector<std::string>>()
                              : std::vector<std::string>{usual_path};
  for (const std::string& path : paths) {
    for (const Side* side : {&comparison.slower(), &comparison.faster()}) {
      const Side& other = side == &comparison.a ? comparison.b : comparison.a;
      const auto number = number_at(*side, path);
      if (number) {
        comparison.break_even.push_back(
            break_even_of(*side, path, *number, other.seconds_per_token()));
      } else if (is_asked) {
        diagnostics.error({side->file, 0, 0, 1},
                          fmt::format("no number '{}' that could break even", path),
                          "only what the scenario writes can be moved",
                          fmt::format("write it there, or --set-{} {}=...",
                                      side->letter == "A" ? "a" : "b", path));
      }
    }
  }
}

void print_row(const std::string& name, const std::string& a, const std::string& b) {
  fmt::print("{:26}{:>16}{:>16}\n", name, a, b);
}

void print_table(const Comparison& comparison) {
  const StudyRecord &a = comparison.a.record, &b = comparison.b.record;
  print_row("", "A", "B");
  const auto row = [](const std::string& name, double left, double right) {
    if (left <= 0 && right <= 0) return;
    print_row(name, left > 0 ? analysis::four_digits(left) : "-",
              right > 0 ? analysis::four_digits(right) : "-");
  };
  const auto seconds = [](std::int64_t ps) { return static_cast<double>(ps) * 1e-12; };
  row("iteration time [s]", seconds(a.iteration_ps), seconds(b.iteration_ps));
  row("  80 % from [s]", a.interval.p10_s, b.interval.p10_s);
  row("  to [s]", a.interval.p90_s, b.interval.p90_s);
  for (int c = 0; c < training::category_count; ++c) {
    const auto index = static_cast<std::size_t>(c);
    row(fmt::format("  {} [s]", name(static_cast<training::Category>(c))), seconds(a.time[index]),
        seconds(b.time[index]));
  }
  for (const Measure measure :
       {Measure::devices, Measure::tokens_per_second, Measure::tokens_per_mwh, Measure::power,
        Measure::cost_per_hour, Measure::tokens_per_dollar}) {
    const auto& traits = scenario::traits(measure);
    row(fmt::format("{} [{}]", traits.name, traits.unit), a.value(measure).value_or(0),
        b.value(measure).value_or(0));
  }
  print_row("memory, fullest rank",
            analysis::percent(a.memory_peak / std::max(a.memory_capacity, 1.0)),
            analysis::percent(b.memory_peak / std::max(b.memory_capacity, 1.0)));
}

void print_break_even(const Comparison& comparison) {
  const std::string &slow = comparison.slower().letter, &fast = comparison.faster().letter;
  fmt::print("\nbreak even\n  {} gives as many tokens per dollar as {} at {} of its cost per hour",
             slow, fast, analysis::percent(comparison.price_ratio()));
  const double paid = comparison.faster().record.usd_per_hour;
  if (paid > 0) {
    fmt::print(": {} USD/h, and costs {}", analysis::four_digits(paid * comparison.price_ratio()),
               analysis::four_digits(comparison.slower().record.usd_per_hour));
  }
  fmt::print("\n");
  for (const BreakEven& one : comparison.break_even) {
    const std::string& other = one.letter == "A" ? "B" : "A";
    const std::string unit = one.unit.empty() ? "" : " " + one.unit;
    if (one.value) {
      fmt::print("  {} is as fast as {} with {}: {}{} in place of {:g}{}\n", one.letter, other,
                 one.path, analysis::four_digits(*one.value), unit, one.now, unit);
    } else {
      fmt::print("  {} is as fast as {} with no {} from {}{} to {}{}\n", one.letter, other,
                 one.path, analysis::four_digits(one.now / factor_max), unit,
                 analysis::four_digits(one.now * factor_max), unit);
    }
  }
}

void print_text(const Comparison& comparison) {
  for (const Side* side : {&comparison.a, &comparison.b}) {
    fmt::print("{}  {}", side->letter, side->file);
    for (const auto& one : side->candidate.overrides) fmt::print(", {}={}", one.path, one.value);
    fmt::print("\n");
  }
  fmt::print("\n");
  print_table(comparison);
  const double share = 1 - comparison.price_ratio();
  fmt::print("\n");
  if (share == 0) {
    fmt::print("both are equally fast\n");
  } else {
    fmt::print("{} is faster, {} has {} fewer tokens per second", comparison.faster().letter,
               comparison.slower().letter, analysis::percent(share));
    if (comparison.has_interval()) {
      fmt::print("; probability {}", analysis::percent(comparison.probability()));
    }
    fmt::print("\n");
  }
  for (const Side* side : {&comparison.a, &comparison.b}) {
    if (side->record.verdict == Verdict::acceptable) continue;
    fmt::print("{} {}: {}\n", side->letter, analysis::name(side->record.verdict), side->record.why);
  }
  print_break_even(comparison);
  fmt::print("\nassumed\n");
  std::vector<std::string> notes = comparison.a.record.notes;
  for (const std::string& note : comparison.b.record.notes) {
    if (std::count(notes.begin(), notes.end(), note) == 0) notes.push_back(note);
  }
  for (const std::string& note : notes) fmt::print("  {}\n", note);
  fmt::print(
      "  probability: runs with one software stack err alike by its error, and on devices of "
      "one type the timing models of a family, in every shape\n");
}

void print_json(const Comparison& comparison) {
  analysis::JsonWriter json;
  json.open_object();
  for (const Side* side : {&comparison.a, &comparison.b}) {
    const StudyRecord& record = side->record;
    json.key(side->letter == "A" ? "a" : "b").open_object().member("file", side->file);
    json.member("verdict", analysis::name(record.verdict)).member("why", record.why);
    json.key("iteration_time_s").seconds(record.iteration_ps);
    json.member("p10_s", record.interval.p10_s).member("p90_s", record.interval.p90_s);
    json.member("tokens_per_second", record.tokens_per_second);
    json.member("cost_per_hour", record.value(Measure::cost_per_hour));
    json.member("tokens_per_dollar", record.value(Measure::tokens_per_dollar));
    json.member("assumed", record.notes).close_object();
  }
  const bool is_a = &comparison.faster() == &comparison.a;
  const double probability = comparison.probability();
  json.member("faster", is_a ? "a" : "b");
  json.member("probability_a_is_faster", comparison.has_interval()
                                             ? std::optional(is_a ? probability : 1 - probability)
                                             : std::nullopt);
  json.member("break_even_cost_ratio", comparison.price_ratio());
  json.key("break_even").open_array();
  for (const BreakEven& one : comparison.break_even) {
    json.open_object().member("side", one.letter == "A" ? "a" : "b").member("path", one.path);
    json.member("unit", one.unit).member("now", one.now).member("value", one.value).close_object();
  }
  fmt::print("{}\n", json.close_array().close_object().take());
}

po::options_description compare_options() {
  po::options_description options("options");
  add_common(options);
  const auto texts = [](const char* what) {
    return po::value<std::vector<std::string>>()->value_name(what);
  };
  options.add_options()("set-a", texts("PATH=VALUE"), "override a field of A alone (repeatable)");
  options.add_options()("set-b", texts("PATH=VALUE"), "override a field of B alone (repeatable)");
  options.add_options()("prices", po::value<std::string>()->value_name("STUDY"),
                        "take the prices of this study");
  options.add_options()("break-even", texts("PATH"),
                        "the field to find the break-even value of (repeatable; "
                        "cluster.fabric.link unless given)");
  return options;
}

}  // namespace

int compare_scenarios(const std::vector<std::string>& arguments) {
  const auto values = parse({"maquette study compare A B [options]",
                             "Simulates two scenarios and prints which is faster, with which "
                             "probability, and at which price and bandwidth they break even.",
                             "maquette study compare scenarios/quickstart.yaml "
                             "scenarios/quickstart.yaml --set-b plan.tensor=4",
                             "scenarios", 2, 2},
                            compare_options(), arguments);
  if (!values) return exit_fine;
  const Common common = read_common(*values);
  const auto& files = (*values)["scenarios"].as<std::vector<std::string>>();
  Comparison comparison = {side_of("A", files[0], "set-a", *values, common),
                           side_of("B", files[1], "set-b", *values, common),
                           {}};
  Diagnostics diagnostics;
  // Errors of both are reported together.
  const bool is_a_loadable = is_loadable(comparison.a, diagnostics);
  const bool are_loadable = is_loadable(comparison.b, diagnostics) && is_a_loadable;
  std::optional<scenario::Prices> prices;
  if (values->count("prices")) {
    const auto study = scenario::read_study((*values)["prices"].as<std::string>(), diagnostics);
    if (study) prices = study->prices;
    if (study && !prices) {
      diagnostics.error({study->file.generic_string(), 0, 0, 1}, "the study has no prices");
    }
  }
  if (report(diagnostics, common) || !are_loadable) return exit_wrong_input;
  for (Side* side : {&comparison.a, &comparison.b}) {
    side->study.prices = prices;
    side->record = evaluated(*side, side->candidate);
    if (side->has_run() && side->record.tokens_per_second > 0) continue;
    diagnostics.error({side->file, 0, 0, 1},
                      side->record.why.empty() ? "the scenario trains no tokens" : side->record.why,
                      "", side->record.hint);
    report(diagnostics, common);
    return exit_cannot_proceed;
  }
  find_break_even(comparison, *values, diagnostics);
  if (report(diagnostics, common)) return exit_wrong_input;
  if (common.is_json) {
    print_json(comparison);
  } else {
    print_text(comparison);
  }
  return exit_fine;
}

}  // namespace sim::command
