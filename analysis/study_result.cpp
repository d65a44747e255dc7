// Order, front, reasons.
#include "analysis/study_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace analysis {

using sim::scenario::Measure;

namespace {

bool is_acceptable(const StudyRecord& record) { return record.verdict == Verdict::acceptable; }

// More is better.
double merit(const StudyRecord& record, Measure measure) {
  const double value = record.value(measure).value_or(0);
  return sim::scenario::traits(measure).is_more_better ? value : -value;
}

bool beats(const StudyRecord& a, const StudyRecord& b, const std::vector<Measure>& objectives) {
  bool is_better = false;
  for (const Measure objective : objectives) {
    if (merit(a, objective) < merit(b, objective)) return false;
    is_better = is_better || merit(a, objective) > merit(b, objective);
  }
  return is_better;
}

void add_once(std::vector<std::string>& lines, const std::string& line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

}  // namespace

std::vector<std::size_t> ranking(const StudyResult& result) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    if (is_acceptable(result.records[i])) order.push_back(i);
  }
  const Measure first = result.study.objectives.front();
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return merit(result.records[a], first) > merit(result.records[b], first);
  });
  return order;
}

std::vector<std::size_t> pareto_front(const StudyResult& result) {
  const auto& objectives = result.study.objectives;
  std::vector<std::size_t> order = ranking(result), front;
  // One that beats another comes before it in the order of the first objective, or is as good there
  // and anywhere in the run of those.
  for (const std::size_t i : order) {
    const StudyRecord& one = result.records[i];
    const bool is_beaten = std::any_of(front.begin(), front.end(), [&](std::size_t other) {
      return beats(result.records[other], one, objectives);
    });
    if (is_beaten) continue;
    std::erase_if(front,
                  [&](std::size_t other) { return beats(one, result.records[other], objectives); });
    front.push_back(i);
  }
  std::sort(front.begin(), front.end());
  return front;
}

std::vector<std::string> axis_paths(const sim::scenario::Study& study) {
  std::vector<std::string> paths;
  for (const auto& axis : study.axes) {
    for (const std::string& path : axis.paths) add_once(paths, path);
  }
  return paths;
}

std::string shown_at(const sim::scenario::Candidate& candidate, const std::string& path) {
  for (std::size_t i = 0; i < candidate.overrides.size(); ++i) {
    if (candidate.overrides[i].path == path) return candidate.shown[i];
  }
  return "";
}

std::vector<Reason> reasons(const StudyResult& result) {
  std::map<std::tuple<Verdict, std::string, std::string>, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    const StudyRecord& r = result.records[i];
    if (!is_acceptable(r)) found[{r.verdict, r.why, r.hint}].push_back(i);
  }
  std::vector<Reason> all;
  for (const auto& [key, candidates] : found) {
    all.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), candidates});
  }
  std::stable_sort(all.begin(), all.end(), [](const Reason& a, const Reason& b) {
    if (a.candidates.size() != b.candidates.size()) {
      return a.candidates.size() > b.candidates.size();
    }
    return a.candidates.front() < b.candidates.front();
  });
  return all;
}

std::vector<std::string> notes(const StudyResult& result) {
  std::vector<std::string> lines;
  for (const StudyRecord& record : result.records) {
    for (const std::string& note : record.notes) add_once(lines, note);
  }
  if (std::any_of(result.records.begin(), result.records.end(),
                  [](const StudyRecord& r) { return r.power_watts > 0; })) {
    add_once(
        lines,
        "power: every device at its power limit all the time, an upper bound of what is counted "
        "here; so tokens per MWh is a lower bound");
  }
  add_once(lines,
           result.study.counts_failures
               ? "failures, checkpoints and recovery of the scenario are counted: tokens are "
                 "those of the effective training time, whose error is not in the intervals"
               : "failures: none");
  if (!result.study.prices) return lines;
  const auto& prices = *result.study.prices;
  for (const auto* list : {&prices.hosts, &prices.devices}) {
    for (const auto& price : *list) {
      lines.push_back(fmt::format("price of {}: {} ({})", price.type,
                                  price.rent ? fmt::format("{} USD/h", *price.rent)
                                             : fmt::format("{} USD", *price.purchase),
                                  price.source));
    }
  }
  constexpr double joules_per_kwh = 3.6e6, seconds_per_day = 86400;
  const auto add = [&](const char* what, const auto& sourced, double unit, const char* name) {
    if (!sourced) return;
    lines.push_back(
        fmt::format("{}: {:.6g}{} ({})", what, sourced->value * unit, name, sourced->source));
  };
  add("network, for each device", prices.network, 1, " USD");
  add("energy", prices.energy, joules_per_kwh, " USD/kWh");
  add("pue", prices.pue, 1, "");
  add("other power, for each device", prices.other_power, 1, " W");
  add("staff", prices.staff, 1, " USD/h");
  add("upkeep of purchases, each year", prices.upkeep, 100, " %");
  if (prices.life) {
    lines.push_back(
        fmt::format("life of a purchase: {:.6g} d", prices.life->value() / seconds_per_day));
  }
  return lines;
}

}  // namespace analysis
