// Sums of operators and of collectives on an idle cluster, in whole picoseconds.
#include "sim/training/rank_times.h"

#include <algorithm>
#include <utility>

namespace sim::training {

RankTimes::RankTimes(const Job& job, const JobCosts& costs, const RankGroups& groups)
    : costs_(costs) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].empty()) continue;
    const int first = *std::min_element(groups[g].begin(), groups[g].end());
    communicators_[g] = std::make_unique<Communicator>(
        *job.cluster, profile_of(job, first),
        std::vector<DeviceIndex>(groups[g].begin(), groups[g].end()));
  }
}

const PassTimes& RankTimes::of_part(std::size_t begin, std::size_t end) {
  const std::size_t layers = costs_.kind_of_layer.size();
  std::vector<std::size_t> key(costs_.kind_of_layer.begin() + static_cast<std::ptrdiff_t>(begin),
                               costs_.kind_of_layer.begin() + static_cast<std::ptrdiff_t>(end));
  const std::size_t ends = (begin == 0 ? 1U : 0U) + (end == layers ? 2U : 0U);
  key.push_back(ends);
  const auto [entry, is_new] = parts_.try_emplace(std::move(key));
  if (!is_new) return entry->second;
  std::vector<const UnitCosts*> units;
  if (begin == 0) units.push_back(&costs_.embedding);
  for (std::size_t l = begin; l < end; ++l) {
    units.push_back(&costs_.layer_kinds[costs_.kind_of_layer[l]]);
  }
  if (end == layers) {
    for (int m = 0; m < costs_.prediction_modules; ++m) units.push_back(&costs_.prediction);
    units.push_back(&costs_.head);
  }
  return entry->second = of_units(std::move(units));
}

// How long it takes alone; with unequal shares, not known here.
Picoseconds RankTimes::duration(const CostedOperator& collective) const {
  const auto& group = communicators_[static_cast<std::size_t>(collective.group)];
  if (!group || collective.skew) return 0;
  const TransferCost cost = group->group_cost(*collective.collective, collective.size).second;
  return cost.lag + cost.work;
}

// Operators one after the other. A collective that some may run beside adds what it takes longer
// than they do; nothing where another one comes in between.
Picoseconds RankTimes::least(const std::vector<const UnitCosts*>& units,
                             std::vector<CostedOperator> UnitCosts::*pass) const {
  Picoseconds total = 0, beside = 0;  // beside: what is left of a collective
  int left = 0;
  for (const UnitCosts* unit : units) {
    for (const CostedOperator& o : unit->*pass) {
      if (o.collective) {
        const Picoseconds own = duration(o);
        left = o.overlapped;
        beside = left > 0 ? own : 0;
        total += left > 0 ? 0 : own;
        continue;
      }
      total += o.work;
      beside = std::max<Picoseconds>(beside - o.work, 0);
      if (left > 0 && --left == 0) {
        total += beside;
        beside = 0;
      }
    }
  }
  return total + beside;
}

PassTimes RankTimes::of_units(std::vector<const UnitCosts*> units) const {
  PassTimes times;
  times.forward = least(units, &UnitCosts::forward);
  std::reverse(units.begin(), units.end());
  times.backward = least(units, &UnitCosts::backward);
  times.in_two =
      least(units, &UnitCosts::backward_input) + least(units, &UnitCosts::backward_weight);
  return times;
}

}  // namespace sim::training
