// One axis at a time; the best against the next.
#include "analysis/study_sensitivity.h"

#include <algorithm>

#include "analysis/versus.h"

namespace analysis {

using sim::scenario::Axis;
using sim::scenario::Measure;

namespace {

// Whether the two differ at the axis, and agree at all other paths.
bool differs_only_along(const Axis& axis, const std::vector<std::string>& paths,
                        const sim::scenario::Candidate& a, const sim::scenario::Candidate& b) {
  bool differs = false;
  for (const std::string& path : paths) {
    if (shown_at(a, path) == shown_at(b, path)) continue;
    if (std::count(axis.paths.begin(), axis.paths.end(), path) == 0) return false;
    differs = true;
  }
  return differs;
}

bool depends_on_time(Measure measure) {
  return measure == Measure::iteration_time || measure == Measure::tokens_per_second ||
         measure == Measure::tokens_per_dollar || measure == Measure::tokens_per_mwh;
}

// In proportion to the iteration time; less is better.
Uncertain uncertain_of(const StudyRecord& record, Measure measure) {
  const double value = record.value(measure).value_or(0);
  const double less_is_better = sim::scenario::traits(measure).is_more_better ? 1 / value : value;
  Uncertain result = uncertain(less_is_better, record.interval);
  if (depends_on_time(measure)) return result;
  constexpr double sigmas_of_95_percent = 1.96;
  const bool is_counted = measure == Measure::effective_time;
  const double error = is_counted ? record.effective_time_error / sigmas_of_95_percent / value : 0;
  return {less_is_better, error, "", {}};
}

}  // namespace

std::vector<Swing> sensitivity(const StudyResult& result) {
  const auto order = ranking(result);
  if (order.empty()) return {};
  const std::size_t best = order.front();
  const auto paths = axis_paths(result.study);
  const auto value = [&](std::size_t i) {
    return result.records[i].value(result.study.objectives.front()).value_or(0);
  };
  std::vector<Swing> swings;
  for (const Axis& axis : result.study.axes) {
    Swing swing = {axis.paths.front(), value(best), value(best), best, best, "", ""};
    for (const std::size_t i : order) {
      if (!differs_only_along(axis, paths, result.candidates[best], result.candidates[i])) continue;
      if (value(i) < swing.low) swing.low = value(i), swing.low_candidate = i;
      if (value(i) > swing.high) swing.high = value(i), swing.high_candidate = i;
    }
    if (swing.low == swing.high) continue;
    swing.low_shown = shown_at(result.candidates[swing.low_candidate], swing.path);
    swing.high_shown = shown_at(result.candidates[swing.high_candidate], swing.path);
    swings.push_back(swing);
  }
  std::stable_sort(swings.begin(), swings.end(),
                   [](const Swing& a, const Swing& b) { return a.high - a.low > b.high - b.low; });
  return swings;
}

std::vector<Rival> rivals(const StudyResult& result, std::size_t most) {
  const auto order = ranking(result);
  const Measure objective = result.study.objectives.front();
  std::vector<Rival> all;
  for (std::size_t n = 1; n < order.size() && n <= most; ++n) {
    const StudyRecord& best = result.records[order.front()];
    const StudyRecord& other = result.records[order[n]];
    Rival rival;
    rival.candidate = order[n];
    const bool is_known = best.interval.p90_s > 0 && other.interval.p90_s > 0;
    if (is_known || !depends_on_time(objective)) {
      rival.probability =
          probability_less(uncertain_of(best, objective), uncertain_of(other, objective));
    }
    if (best.usd_per_hour > 0 && other.usd_per_hour > 0) {
      rival.break_even_usd_per_hour =
          best.usd_per_hour * other.tokens_per_second / best.tokens_per_second;
    }
    all.push_back(rival);
  }
  return all;
}

}  // namespace analysis
