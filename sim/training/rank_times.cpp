// Sums of operators and of collectives on an idle cluster, in whole picoseconds.
#include "sim/training/rank_times.h"

#include <algorithm>
#include <utility>

namespace sim::training {
namespace {

constexpr std::array passes = {&UnitCosts::forward, &UnitCosts::backward,
                               &UnitCosts::backward_input, &UnitCosts::backward_weight};

// Whether no collective of it lasts into the next unit, so that times of units add up.
bool is_closed(const UnitCosts& unit) {
  return std::all_of(passes.begin(), passes.end(), [&](auto pass) {
    int left = 0;  // operators that may run beside the last collective
    for (const CostedOperator& o : unit.*pass) {
      left = o.collective ? o.overlapped : std::max(left - 1, 0);
    }
    return left == 0;
  });
}

}  // namespace

std::unique_ptr<Communicator> communicator_of(const Job& job, const std::vector<int>& ranks) {
  const int first = *std::min_element(ranks.begin(), ranks.end());
  return std::make_unique<Communicator>(*job.cluster, profile_of(job, first),
                                        std::vector<DeviceIndex>(ranks.begin(), ranks.end()));
}

PassTimes& PassTimes::operator+=(const PassTimes& other) {
  forward += other.forward;
  backward += other.backward;
  in_two += other.in_two;
  return *this;
}

RankTimes::RankTimes(const JobCosts& costs, const Communicators& communicators)
    : costs_(costs), communicators_(communicators) {
  const auto& kinds = costs.layer_kinds;
  adds_up_ = std::all_of(kinds.begin(), kinds.end(), is_closed) && is_closed(costs.embedding) &&
             is_closed(costs.head) && is_closed(costs.prediction);
  if (adds_up_) sum_up();
}

void RankTimes::sum_up() {
  std::vector<PassTimes> of_kinds;
  for (const UnitCosts& kind : costs_.layer_kinds) of_kinds.push_back(of_units({&kind}));
  sums_.resize(1);
  for (const std::size_t kind : costs_.kind_of_layer) {
    sums_.push_back(sums_.back());
    sums_.back() += of_kinds[kind];
  }
  first_ = of_units({&costs_.embedding});
  last_ = of_units(last_units());
}

std::vector<const UnitCosts*> RankTimes::last_units() const {
  std::vector<const UnitCosts*> units(static_cast<std::size_t>(costs_.prediction_modules),
                                      &costs_.prediction);
  units.push_back(&costs_.head);
  return units;
}

PassTimes RankTimes::of_part(std::size_t begin, std::size_t end) {
  const std::size_t layers = costs_.kind_of_layer.size();
  if (adds_up_) {
    PassTimes times = sums_[end] - sums_[begin];
    if (begin == 0) times += first_;
    if (end == layers) times += last_;
    return times;
  }
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
    const auto last = last_units();
    units.insert(units.end(), last.begin(), last.end());
  }
  return entry->second = of_units(std::move(units));
}

// How long it takes alone; with unequal shares, not known here.
Picoseconds RankTimes::duration(const CostedOperator& collective) const {
  const Communicator* group = communicators_[static_cast<std::size_t>(collective.group)];
  if (!group || collective.skew) return 0;
  const TransferCost cost = group->group_cost(*collective.collective, collective.size).second;
  return cost.lag + cost.work;
}

void RankTimes::pass(const std::vector<CostedOperator>& operators, Passed& passed) const {
  auto& [total, beside, left] = passed;
  for (const CostedOperator& o : operators) {
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

Picoseconds RankTimes::least(const std::vector<const UnitCosts*>& units,
                             std::vector<CostedOperator> UnitCosts::*pass_of) const {
  Passed passed;
  for (const UnitCosts* unit : units) pass(unit->*pass_of, passed);
  return passed.total + passed.beside;
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
