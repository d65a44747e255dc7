// Progressive filling with a lazy heap of levels: a level never falls, so a stale entry is
// re-pushed.
#include "sim/network/max_min.h"

#include <algorithm>
#include <functional>

namespace sim::network {

// The lowest level at which the task reaches its cap.
std::int64_t MaxMin::cap_level(const Demand& demand) {
  const Int128 scaled = Int128{demand.cap} << (weight_bits + level_bits);
  return static_cast<std::int64_t>((scaled + demand.weight - 1) / demand.weight);
}

std::int64_t MaxMin::rate_at(const Demand& demand, std::int64_t level) {
  const Int128 rate = (Int128{demand.weight} * level) >> (weight_bits + level_bits);
  return rate >= demand.cap ? demand.cap : static_cast<std::int64_t>(rate);
}

void MaxMin::push(Level level) {
  heap_.push_back(level);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

std::int64_t MaxMin::level_of(std::size_t resource, std::int64_t capacity) const {
  Int128 spare = (Int128{capacity} << rate_bits) - used_[resource];
  invariant(spare >= 0, "max-min: a resource is used beyond its capacity");
  const Int128 level = (spare << (weight_bits + level_bits)) / load_[resource];
  constexpr Int128 highest = Int128{1} << 62;
  return static_cast<std::int64_t>(level < highest ? level : highest);
}

void MaxMin::fill_incidence(std::size_t resources, std::span<const Demand> demands) {
  first_.assign(resources + 1, 0);
  load_.assign(resources, 0);
  used_.assign(resources, 0);
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
  heap_.clear();
  for (std::size_t r = 0; r < capacity.size(); ++r) {
    if (load_[r] > 0) heap_.push_back({level_of(r, capacity[r]), static_cast<std::int32_t>(r)});
  }
  for (std::size_t t = 0; t < demands.size(); ++t) {
    heap_.push_back({cap_level(demands[t]), -1 - static_cast<std::int32_t>(t)});
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void MaxMin::freeze(std::int32_t task, std::int64_t level, const Demand& demand,
                    std::span<std::int64_t> rates) {
  const std::size_t t = static_cast<std::size_t>(task);
  if (frozen_[t]) return;
  frozen_[t] = 1;
  rates[t] = rate_at(demand, level);
  for (const Use& use : demand.uses) {
    const std::size_t r = static_cast<std::size_t>(use.resource);
    used_[r] += Int128{use.amount} * rates[t];
    load_[r] -= Int128{use.amount} * demand.weight;
  }
}

void MaxMin::solve(std::span<const std::int64_t> capacity, std::span<const Demand> demands,
                   std::span<std::int64_t> rates) {
  fill_incidence(capacity.size(), demands);
  frozen_.assign(demands.size(), 0);
  push_levels(capacity, demands);
  while (!heap_.empty()) {
    // All resources and caps that are reached at the lowest level, as one set.
    const std::int64_t level = heap_.front().level;
    batch_.clear();
    while (!heap_.empty() && heap_.front().level == level) {
      const Level top = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
      if (top.resource < 0) {
        batch_.push_back(top);
        continue;
      }
      const std::size_t r = static_cast<std::size_t>(top.resource);
      if (load_[r] == 0) continue;
      const std::int64_t now = level_of(r, capacity[r]);
      if (now > level) {
        push({now, top.resource});
      } else {
        batch_.push_back(top);
      }
    }
    for (const Level& reached : batch_) {
      if (reached.resource < 0) {
        const std::int32_t task = -1 - reached.resource;
        freeze(task, level, demands[static_cast<std::size_t>(task)], rates);
        continue;
      }
      const std::size_t r = static_cast<std::size_t>(reached.resource);
      for (std::int32_t i = first_[r]; i < first_[r + 1]; ++i) {
        const std::int32_t task = task_[static_cast<std::size_t>(i)];
        freeze(task, level, demands[static_cast<std::size_t>(task)], rates);
      }
    }
  }
}

}  // namespace sim::network
