// Progressive filling with a lazy heap of levels: a level never falls, so a stale entry is
// re-pushed.
#include "sim/network/max_min.h"

#include <algorithm>
#include <functional>

namespace sim::network {

std::int64_t MaxMin::cap_level(std::int64_t weight, std::int64_t cap) {
  const Int128 scaled = Int128{cap} << (weight_bits + level_bits);
  return static_cast<std::int64_t>((scaled + weight - 1) / weight);
}

std::int64_t MaxMin::rate_at(std::int64_t weight, std::int64_t cap, std::int64_t level) {
  const Int128 rate = (Int128{weight} * level) >> (weight_bits + level_bits);
  return rate >= cap ? cap : static_cast<std::int64_t>(rate);
}

std::int64_t MaxMin::level_of(Int128 spare, Int128 load) {
  invariant(spare >= 0, "max-min: a resource is used beyond its capacity");
  const Int128 level = (spare << (weight_bits + level_bits)) / load;
  constexpr Int128 highest = Int128{1} << 62;
  return static_cast<std::int64_t>(level < highest ? level : highest);
}

std::int64_t MaxMin::level_now(std::size_t resource, std::int64_t capacity) const {
  return level_of((Int128{capacity} << rate_bits) - used_[resource], load_[resource]);
}

void MaxMin::fill_incidence(std::size_t resources, std::span<const Demand> demands) {
  first_.assign(resources + 1, 0);
  load_.assign(resources, 0);
  used_.assign(resources, 0);
  levels_.assign(resources, unlimited);
  for (const Demand& demand : demands) {
    for (const Use& use : demand.uses) {
      if (use.amount == 0) continue;
      ++first_[static_cast<std::size_t>(use.resource) + 1];
      load_[static_cast<std::size_t>(use.resource)] += Int128{use.amount} * demand.weight;
    }
  }
  for (std::size_t r = 0; r < resources; ++r) first_[r + 1] += first_[r];
  task_.resize(static_cast<std::size_t>(first_[resources]));
  for (std::size_t t = demands.size(); t-- > 0;) {
    for (const Use& use : demands[t].uses) {
      if (use.amount == 0) continue;
      task_[static_cast<std::size_t>(--first_[static_cast<std::size_t>(use.resource) + 1])] =
          static_cast<std::int32_t>(t);
    }
  }
  // The countdown moved each end to its start; shift back so that [first_[r], first_[r + 1]) holds.
  first_.erase(first_.begin());
  first_.push_back(static_cast<std::int32_t>(task_.size()));
}

void MaxMin::push_levels(std::span<const std::int64_t> capacity, std::span<const Demand> demands) {
  full_.clear();
  for (std::size_t r = 0; r < capacity.size(); ++r) {
    if (load_[r] > 0) full_.push_back({level_now(r, capacity[r]), static_cast<std::int32_t>(r)});
  }
  std::make_heap(full_.begin(), full_.end(), std::greater<>());
  capped_.clear();
  capped_is_heap_ = false;
  capped_min_ = INT64_MAX;
  for (std::size_t t = 0; t < demands.size(); ++t) {
    // Most are like the one before, and a division takes long.
    const bool is_alike =
        t > 0 && demands[t].weight == demands[t - 1].weight && demands[t].cap == demands[t - 1].cap;
    const std::int64_t level =
        is_alike ? capped_.back().level : cap_level(demands[t].weight, demands[t].cap);
    capped_.push_back({level, static_cast<std::int32_t>(t)});
    capped_min_ = std::min(capped_min_, level);
  }
}

void MaxMin::freeze(std::int32_t task, std::int64_t level, const Demand& demand,
                    std::span<std::int64_t> rates) {
  const std::size_t t = static_cast<std::size_t>(task);
  if (frozen_[t]) return;
  frozen_[t] = 1;
  --unfrozen_;
  rates[t] = rate_at(demand.weight, demand.cap, level);
  for (const Use& use : demand.uses) {
    const std::size_t r = static_cast<std::size_t>(use.resource);
    used_[r] += Int128{use.amount} * rates[t];
    load_[r] -= Int128{use.amount} * demand.weight;
  }
}

std::int64_t MaxMin::lowest() const {
  return full_.empty() ? capped_min_ : std::min(full_.front().level, capped_min_);
}

// Collects the resources that are full at the level, the lowest there is.
void MaxMin::take_full(std::int64_t level, std::span<const std::int64_t> capacity) {
  batch_full_.clear();
  while (!full_.empty() && full_.front().level == level) {
    const std::size_t r = static_cast<std::size_t>(full_.front().index);
    std::pop_heap(full_.begin(), full_.end(), std::greater<>());
    full_.pop_back();
    if (load_[r] == 0) continue;
    const std::int64_t now = level_now(r, capacity[r]);
    if (now > level) {
      full_.push_back({now, static_cast<std::int32_t>(r)});
      std::push_heap(full_.begin(), full_.end(), std::greater<>());
    } else {
      batch_full_.push_back(static_cast<std::int32_t>(r));
      levels_[r] = level;
    }
  }
}

// Collects the tasks that are at their caps at the level.
void MaxMin::take_capped(std::int64_t level) {
  batch_capped_.clear();
  if (capped_min_ > level) return;
  if (!capped_is_heap_) std::make_heap(capped_.begin(), capped_.end(), std::greater<>());
  capped_is_heap_ = true;
  while (!capped_.empty() && capped_.front().level == level) {
    batch_capped_.push_back(capped_.front().index);
    std::pop_heap(capped_.begin(), capped_.end(), std::greater<>());
    capped_.pop_back();
  }
  capped_min_ = capped_.empty() ? INT64_MAX : capped_.front().level;
}

void MaxMin::solve(std::span<const std::int64_t> capacity, std::span<const Demand> demands,
                   std::span<std::int64_t> rates) {
  fill_incidence(capacity.size(), demands);
  frozen_.assign(demands.size(), 0);
  unfrozen_ = demands.size();
  push_levels(capacity, demands);
  while (unfrozen_ > 0) {
    // All resources and caps that are reached at the lowest level, as one set.
    const std::int64_t level = lowest();
    take_full(level, capacity);
    take_capped(level);
    for (const std::int32_t task : batch_capped_) {
      freeze(task, level, demands[static_cast<std::size_t>(task)], rates);
    }
    for (const std::int32_t resource : batch_full_) {
      const std::size_t r = static_cast<std::size_t>(resource);
      for (std::int32_t i = first_[r]; i < first_[r + 1]; ++i) {
        const std::int32_t task = task_[static_cast<std::size_t>(i)];
        freeze(task, level, demands[static_cast<std::size_t>(task)], rates);
      }
    }
  }
}

}  // namespace sim::network
