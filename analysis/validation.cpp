// Statistics over runs that are judged: those that gave the factor are left out.
#include "analysis/validation.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace analysis {

namespace {

std::vector<const MeasuredRun*> judged(const std::vector<MeasuredRun>& runs) {
  std::vector<const MeasuredRun*> result;
  for (const MeasuredRun& run : runs) {
    if (!run.is_calibrating) result.push_back(&run);
  }
  return result;
}

struct Pairs {
  std::int64_t concordant = 0, discordant = 0, measured_ties = 0, predicted_ties = 0, all = 0;

  void add(const MeasuredRun& a, const MeasuredRun& b) {
    const double measured = a.measured_s - b.measured_s, predicted = a.predicted_s - b.predicted_s;
    ++all;
    measured_ties += measured == 0;
    predicted_ties += predicted == 0;
    concordant += measured * predicted > 0;
    discordant += measured * predicted < 0;
  }
  std::optional<double> tau() const {
    const auto left = static_cast<double>(all - measured_ties);
    const auto right = static_cast<double>(all - predicted_ties);
    if (left == 0 || right == 0) return std::nullopt;
    return static_cast<double>(concordant - discordant) / std::sqrt(left * right);
  }
};

}  // namespace

ErrorStatistics error_statistics(const std::vector<MeasuredRun>& runs) {
  ErrorStatistics s;
  std::vector<double> absolute;
  for (const MeasuredRun* run : judged(runs)) {
    absolute.push_back(std::abs(run->error()));
    s.bias += run->error();
    if (std::abs(run->error()) <= std::abs(s.worst) && !s.worst_id.empty()) continue;
    s.worst = run->error();
    s.worst_id = run->id;
  }
  s.runs = static_cast<int>(absolute.size());
  if (absolute.empty()) return s;
  s.bias /= s.runs;
  for (const double a : absolute) s.mean_absolute += a / s.runs;
  std::sort(absolute.begin(), absolute.end());
  const std::size_t middle = absolute.size() / 2;
  s.median_absolute =
      absolute.size() % 2 == 1 ? absolute[middle] : (absolute[middle - 1] + absolute[middle]) / 2;
  return s;
}

RankingStatistics ranking_statistics(const std::vector<MeasuredRun>& runs) {
  std::map<std::string, std::vector<const MeasuredRun*>> groups;
  for (const MeasuredRun* run : judged(runs)) groups[run->group].push_back(run);
  RankingStatistics s;
  Pairs pairs;
  for (const auto& [name, members] : groups) {
    if (members.size() < 2) continue;
    ++s.groups;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) pairs.add(*members[i], *members[j]);
    }
    const auto chosen = std::min_element(
        members.begin(), members.end(),
        [](const MeasuredRun* a, const MeasuredRun* b) { return a->predicted_s < b->predicted_s; });
    const auto best = std::min_element(
        members.begin(), members.end(),
        [](const MeasuredRun* a, const MeasuredRun* b) { return a->measured_s < b->measured_s; });
    const double regret = (*chosen)->measured_s / (*best)->measured_s - 1;
    s.mean_regret += regret;
    s.worst_regret = std::max(s.worst_regret, regret);
  }
  if (s.groups > 0) s.mean_regret /= s.groups;
  s.kendall_tau = pairs.tau();
  return s;
}

Coverage coverage(const std::vector<MeasuredRun>& runs) {
  Coverage result;
  for (const MeasuredRun* run : judged(runs)) {
    if (!run->p10_s || !run->p90_s) continue;
    ++result.runs;
    result.inside += run->measured_s >= *run->p10_s && run->measured_s <= *run->p90_s;
  }
  return result;
}

double calibrate(std::vector<MeasuredRun>& runs) {
  double logs = 0;
  int count = 0;
  for (const MeasuredRun& run : runs) {
    if (!run.is_calibrating) continue;
    logs += std::log(run.measured_s / run.predicted_s);
    ++count;
  }
  if (count == 0) return 1;
  const double factor = std::exp(logs / count);
  for (MeasuredRun& run : runs) {
    run.predicted_s *= factor;
    if (run.p10_s) *run.p10_s *= factor;
    if (run.p90_s) *run.p90_s *= factor;
  }
  return factor;
}

}  // namespace analysis
