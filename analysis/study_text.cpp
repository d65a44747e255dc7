// A study for people: a table, the best first, and why the others are out.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/lines.h"
#include "analysis/study_result.h"
#include "analysis/study_sensitivity.h"

namespace analysis {

using sim::scenario::Measure;

namespace {

constexpr std::size_t rows_max = 20, reasons_max = 12;
using Row = std::vector<std::string>;

std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:>{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string short_name(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

constexpr double gibi = 1 << 30;

std::string cell(const StudyRecord& record, Measure measure) {
  const auto value = record.value(measure);
  if (!value) return "-";
  if (measure == Measure::devices) return fmt::format("{:.0f}", *value);
  return four_digits(measure == Measure::memory ? *value / gibi : *value);
}

std::string column_name(Measure measure) {
  const auto& traits = sim::scenario::traits(measure);
  const std::string unit = measure == Measure::memory ? "GiB" : traits.unit;
  return unit == "1" || unit.find("1/") == 0 ? traits.name
                                             : fmt::format("{} [{}]", traits.name, unit);
}

// The objectives, and the iteration time and devices with them.
std::vector<Measure> columns(const StudyResult& result) {
  std::vector<Measure> all = result.study.objectives;
  for (const Measure one : {Measure::iteration_time, Measure::devices}) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }
  return all;
}

std::string table(const StudyResult& result, const std::vector<std::size_t>& order) {
  const auto front = pareto_front(result);
  const auto paths = axis_paths(result.study);
  std::vector<Row> rows(1);
  rows[0].emplace_back("");
  rows[0].emplace_back("#");
  for (const std::string& path : paths) rows[0].push_back(short_name(path));
  for (const Measure measure : columns(result)) rows[0].push_back(column_name(measure));
  rows[0].emplace_back("80 % between [s]");
  rows[0].emplace_back("memory");
  if (result.study.search) rows[0].emplace_back("plan");
  for (const std::size_t i : order) {
    if (rows.size() > rows_max) break;
    const StudyRecord& record = result.records[i];
    Row row = {std::binary_search(front.begin(), front.end(), i) ? "*" : "", std::to_string(i)};
    for (const std::string& path : paths) row.push_back(shown_at(result.candidates[i], path));
    for (const Measure measure : columns(result)) row.push_back(cell(record, measure));
    row.push_back(record.interval.p90_s > 0
                      ? fmt::format("{}..{}", four_digits(record.interval.p10_s),
                                    four_digits(record.interval.p90_s))
                      : "-");
    row.push_back(record.memory_capacity > 0 ? percent(record.memory_peak / record.memory_capacity)
                                             : "-");
    if (result.study.search) row.push_back(record.plan);
    rows.push_back(row);
  }
  return aligned(rows);
}

std::string why_not(const StudyResult& result) {
  const auto all = reasons(result);
  if (all.empty()) return "";
  std::string text = "\nwhy not\n";
  for (std::size_t i = 0; i < all.size() && i < reasons_max; ++i) {
    text += fmt::format("  {:>5}  {}: {}\n", all[i].candidates.size(), name(all[i].verdict),
                        all[i].why);
    if (!all[i].hint.empty()) text += fmt::format("         hint: {}\n", all[i].hint);
  }
  if (all.size() > reasons_max) {
    text += fmt::format("         and {} more reasons\n", all.size() - reasons_max);
  }
  return text;
}

std::string found_plans(const StudyResult& result, std::size_t best) {
  const StudyRecord& record = result.records[best];
  if (record.found.size() < 2) return "";
  std::string text = fmt::format("\nplans of candidate {}, the best first\n", best);
  for (const FoundPlan& found : record.found) {
    text += fmt::format("  {:>10} s  {}\n",
                        four_digits(static_cast<double>(found.iteration_ps) * 1e-12), found.plan);
  }
  return text + fmt::format(
                    "  of {} plans {} fit into memory; {} were simulated, the others cannot "
                    "be faster than the last of these\n",
                    record.plans, record.plans_fitting, record.plans_simulated);
}

// How sure the first place is, beside the next three.
std::string how_sure(const StudyResult& result) {
  std::string text;
  for (const Rival& rival : rivals(result, 3)) {
    if (!rival.probability) continue;
    text += fmt::format("  better than candidate {} with a probability of {}\n", rival.candidate,
                        percent(*rival.probability));
  }
  return text.empty() ? "" : "\nthe best one is\n" + text;
}

}  // namespace

std::string study_text(const StudyResult& result) {
  const auto order = ranking(result);
  std::string text = result.study.name + "\n\n";
  text += line("candidates", fmt::format("{}, {} acceptable; the filters leave out {} more",
                                         result.records.size(), order.size(), result.filtered));
  std::vector<std::string> wanted;
  for (const Measure objective : result.study.objectives) {
    const auto& traits = sim::scenario::traits(objective);
    wanted.push_back(fmt::format("{} {}", traits.is_more_better ? "most" : "least", traits.name));
  }
  text += line("wanted", fmt::format("{}; * on the Pareto front", fmt::join(wanted, ", ")));
  if (!order.empty()) text += "\n" + table(result, order);
  if (order.size() > rows_max) text += fmt::format("  and {} more\n", order.size() - rows_max);
  if (!order.empty()) text += found_plans(result, order.front());
  text += how_sure(result) + why_not(result) + "\nassumed\n";
  for (const std::string& note : notes(result)) text += fmt::format("  {}\n", note);
  return text;
}

}  // namespace analysis
