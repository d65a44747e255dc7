// The estimate, then what would be better.
#include "sim/fault/outlook.h"

#include <algorithm>
#include <cmath>

namespace sim::fault {
namespace {

void search_interval(const Question& question, const Policy& policy, Rates& rates,
                     Outlook& outlook) {
  double unplanned = 0;
  for (std::size_t p = 0; p < question.model.processes.size(); ++p) {
    if (question.model.processes[p].is_planned) continue;
    unplanned += outlook.estimate.causes[p].interruptions;
  }
  if (unplanned == 0) return;
  const Checkpointing& checkpoint = question.model.checkpoint;
  const Seconds between(outlook.estimate.wall.mean / unplanned);
  const int histories = std::min(question.search_histories_max, question.effort.histories_max);
  const auto stretch = [&](Seconds every) {
    Model model = question.model;
    model.checkpoint.every = every;
    return mean_stretch(model, policy, rates, histories, question.effort);
  };
  // Relative to the interval asked for over the same histories, so that chance hardly matters.
  const double now = stretch(checkpoint.every), found = outlook.estimate.ratio.mean;
  const auto ratio = [&](double other) {
    return std::isfinite(now) ? found * now / other : 1 / other;
  };
  Seconds start = checkpoint.every;
  // The formulas know one level.
  if (checkpoint.stall.value() > 0 && !question.model.memory) {
    outlook.young = start = young_interval(checkpoint.stall, between);
    outlook.daly = daly_interval(checkpoint.stall, between);
    outlook.ratio_young = ratio(stretch(*outlook.young));
  }
  outlook.best = best_interval(question.model, policy, rates, start, histories, question.effort);
  if (outlook.best) outlook.best->ratio = ratio(1 / outlook.best->ratio);
}

}  // namespace

double Outlook::time_to_tokens() const {
  if (model.horizon.work) return estimate.wall.mean;
  return tokens / tokens_per_second / estimate.ratio.mean;
}

Outlook outlook(const Question& question, Rates& rates) {
  Outlook result;
  const auto chosen = policy(question.policy);
  result.model = question.model;
  result.policy = question.policy;
  result.precision = question.effort.precision;
  result.estimate = estimate(question.model, *chosen, rates, question.effort);
  result.episodes =
      history(question.model, *chosen, rates, {{question.effort.seed, 0}, true}).episodes;
  search_interval(question, *chosen, rates, result);
  const bool takes_hosts =
      std::any_of(question.model.processes.begin(), question.model.processes.end(),
                  [](const FailureProcess& process) { return process.hosts > 0; });
  if (takes_hosts && !chosen->ignores_failures()) {
    std::vector<double> shares = {0.9, 0.99, 0.999};
    shares.push_back(question.spare_target);
    std::sort(shares.begin(), shares.end());
    shares.erase(std::unique(shares.begin(), shares.end()), shares.end());
    Effort effort = question.effort;
    effort.histories_max = std::min(effort.histories_max, question.search_histories_max);
    effort.progress = {};
    result.spares_needed = spares_needed(question.model, rates, shares, effort);
  }
  result.states = rates.asked();
  return result;
}

}  // namespace sim::fault
