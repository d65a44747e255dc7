// One constant after the other, up and down.
#include "sim/command/fit_stack.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "analysis/json_writer.h"
#include "sim/base/parallel.h"
#include "sim/command/run_prediction.h"

namespace sim::command {

namespace {

constexpr double first_factor = 1.5;
constexpr int rounds = 5;
constexpr double least_gain = 3e-4;  // of the mean error: less is not told from noise

// The word behind "stack:" in a scenario; none where it is written out.
std::optional<std::string> stack_of(const scenario::MeasuredScenario& written) {
  static const std::regex pattern(R"((?:^|\n)stack: ([\w-]+)\n)");
  std::smatch found;
  if (!std::regex_search(written.text, found, pattern)) return std::nullopt;
  return found[1];
}

std::string text_of(const FittedConstant& c) {
  return fmt::format("{}: {:.4g}{}", c.field, c.value, c.unit);
}

class StackFit {
 public:
  StackFit(const scenario::MeasuredFile& file, const Common& common)
      : file_(file), common_(common) {
    std::set<std::string> stacks;
    for (const scenario::MeasuredRow& row : file_.rows) {
      const auto written = scenario_of(row, file_);
      if (written.impossible.empty()) stacks.insert(stack_of(written).value_or("(written out)"));
    }
    if (stacks.size() != 1 || stacks.contains("(written out)")) {
      throw UsageError{fmt::format("the rows have {} software stacks, not one: {}", stacks.size(),
                                   fmt::join(stacks, ", ")),
                       "take those of one with --where or --match"};
    }
    base_ = *stacks.begin();
  }

  const std::string& base() const { return base_; }
  std::vector<Prediction> predictions(const std::vector<FittedConstant>& constants) const {
    Common common = common_;
    std::string stack = "{base: " + base_;
    for (const FittedConstant& c : constants) stack += ", " + text_of(c);
    common.overrides.push_back({"stack", stack + "}"});
    std::vector<Prediction> result(file_.rows.size());
    parallel_for(file_.rows.size(), core_count(),
                 [&](std::size_t i) { result[i] = predict(file_.rows[i], file_, common); });
    return result;
  }

 private:
  const scenario::MeasuredFile& file_;
  const Common& common_;
  std::string base_;
};

analysis::ErrorStatistics errors_of(const std::vector<Prediction>& predictions) {
  std::vector<analysis::MeasuredRun> runs;
  for (const Prediction& p : predictions) {
    if (p.why_not.empty()) runs.push_back(p.run);
  }
  return analysis::error_statistics(runs);
}

}  // namespace

std::vector<FittedConstant> fitted_constants(const std::string& text) {
  static const std::regex pattern(R"(\s*([a-z_]+)\s*=\s*([0-9.eE+-]+)(\s*\S.*?)?\s*)");
  std::vector<FittedConstant> result;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    std::smatch found;
    double value = 0;
    bool is_read = std::regex_match(part, found, pattern);
    if (is_read) {
      const std::string number = found[2];
      const char* const end = number.data() + number.size();
      is_read = std::from_chars(number.data(), end, value).ptr == end && value > 0;
    }
    if (!is_read) {
      throw UsageError{fmt::format("--fit '{}' is not a field of a stack and where to start", part),
                       "such as 'host_per_layer=0.5 ms,pointwise_traffic=2', above zero"};
    }
    result.push_back({found[1], value, found[3]});
  }
  return result;
}

void descend(std::vector<FittedConstant>& constants,
             const std::function<double(const std::vector<FittedConstant>&)>& score) {
  double best = score(constants);
  for (int round = 0; round < rounds; ++round) {
    const double factor = std::pow(first_factor, std::pow(0.5, round));
    for (FittedConstant& one : constants) {
      for (const double change : {factor, 1 / factor}) {
        while (true) {
          const double before = one.value;
          one.value *= change;
          const double found = score(constants);
          if (found < best - least_gain) {
            best = found;
            continue;
          }
          one.value = before;
          break;
        }
      }
    }
  }
}

namespace {

void print_fit_json(const std::string& stack, const std::vector<FittedConstant>& constants,
                    const analysis::ErrorStatistics& before,
                    const analysis::ErrorStatistics& after) {
  analysis::JsonWriter json;
  json.open_object().member("stack", stack).key("constants").open_object();
  for (const FittedConstant& c : constants) {
    json.member(c.field, fmt::format("{:.4g}{}", c.value, c.unit));
  }
  json.close_object().member("runs", after.runs);
  json.member("mean_absolute_percentage_error", 100 * after.mean_absolute);
  json.member("bias", 100 * after.bias);
  json.member("mean_absolute_percentage_error_before", 100 * before.mean_absolute);
  json.member("bias_before", 100 * before.bias).close_object();
  fmt::print("{}\n", json.take());
}

}  // namespace

int fit_stack(const scenario::MeasuredFile& file, const Common& common,
              const std::string& constants) {
  std::vector<FittedConstant> fitted = fitted_constants(constants);
  const StackFit fit(file, common);
  const auto start = fit.predictions(fitted);
  const auto before = errors_of(start);
  if (before.runs == 0) throw UsageError{"no row can be predicted", start.front().why_not};
  // A value with which rows cannot be predicted is none, however well the others are.
  descend(fitted, [&](const std::vector<FittedConstant>& c) {
    const auto errors = errors_of(fit.predictions(c));
    return errors.runs < before.runs ? INFINITY : errors.mean_absolute;
  });
  const auto after = errors_of(fit.predictions(fitted));
  if (common.is_json) {
    print_fit_json(fit.base(), fitted, before, after);
    return exit_fine;
  }
  fmt::print("{} of {} rows, {}:\n", before.runs, file.rows.size(), fit.base());
  for (const FittedConstant& one : fitted) fmt::print("  {}\n", text_of(one));
  fmt::print(
      "mean absolute error {:.2f} % instead of {:.2f} %, bias {:+.1f} % instead of {:+.1f} %\n",
      100 * after.mean_absolute, 100 * before.mean_absolute, 100 * after.bias, 100 * before.bias);
  return exit_fine;
}

}  // namespace sim::command
