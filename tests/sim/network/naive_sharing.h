// The same promises as Sharing, kept without any cleverness: everything moves at every event, and
// rates are found by raising one level until nobody is left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/network/sharing.h"

namespace sim::network {

class NaiveSharing {
 public:
  NaiveSharing(std::vector<std::int64_t> capacity, std::size_t tasks)
      : capacity_(std::move(capacity)), reserved_(capacity_.size(), 0), tasks_(tasks) {}

  void start(std::int32_t task, Picoseconds work, std::int64_t weight, std::span<const Use> uses) {
    start(task, Int128{work} << rate_bits, weight, uses);
  }
  void start(std::int32_t task, Int128 remaining, std::int64_t weight, std::span<const Use> uses) {
    at(task) = Active{remaining, weight, 0, {uses.begin(), uses.end()}};
  }
  void stop(std::int32_t task) { at(task).reset(); }
  bool in_progress(std::int32_t task) { return at(task).has_value(); }
  void set_capacity(std::int32_t r, std::int64_t value) {
    capacity_[static_cast<std::size_t>(r)] = value;
  }
  void reserve(std::int32_t r, std::int64_t amount) {
    reserved_[static_cast<std::size_t>(r)] += amount;
  }

  void advance(Picoseconds duration) {
    for (auto& task : tasks_) {
      if (task) task->remaining -= Int128{task->rate} * duration;
    }
  }

  void resolve() {
    std::vector<std::optional<std::int64_t>> rates(tasks_.size());
    for (std::optional<Int128> level; (level = next_level(rates));) freeze(*level, rates);
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t]) tasks_[t]->rate = *rates[t];
    }
  }

  // The same by the solver, for systems in which that would take too long.
  void resolve_with_max_min() {
    std::vector<std::int64_t> available;
    for (std::size_t r = 0; r < capacity_.size(); ++r) {
      available.push_back(std::max<std::int64_t>(capacity_[r] - reserved_[r], 0));
      Int128 demand = 0;
      for (const auto& task : tasks_) demand += task ? amount(*task, r) : 0;
      // As much as all ask for is no limit, though levels are rounded down.
      if (demand <= available.back()) available.back() = (std::int64_t{1} << 44) - 1;
    }
    std::vector<Demand> demands;
    for (const auto& task : tasks_) {
      demands.push_back(task ? Demand{task->weight, rate_one, task->uses} : Demand{});
    }
    std::vector<std::int64_t> rates(tasks_.size());
    MaxMin().solve(available, demands, rates);
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t]) tasks_[t]->rate = rates[t];
    }
  }

  Picoseconds ends_at(std::int32_t task, Picoseconds now) {
    const Active& a = *at(task);
    if (a.rate == 0) return Sharing::never;
    return now + static_cast<Picoseconds>((a.remaining + a.rate - 1) / a.rate);
  }
  std::int64_t rate(std::int32_t task) { return at(task)->rate; }
  Int128 remaining(std::int32_t task) { return at(task)->remaining; }

  Int128 load(std::int32_t resource) const {
    Int128 sum = 0;
    for (const auto& task : tasks_) {
      if (task) sum += amount(*task, static_cast<std::size_t>(resource)) * task->rate;
    }
    return sum;
  }

 private:
  static constexpr int bits = weight_bits + 16;  // fraction bits of a level below those of a rate
  using Rates = std::vector<std::optional<std::int64_t>>;
  struct Active {
    Int128 remaining;
    std::int64_t weight, rate;
    std::vector<Use> uses;
  };

  std::optional<Active>& at(std::int32_t task) { return tasks_[static_cast<std::size_t>(task)]; }

  static Int128 amount(const Active& task, std::size_t resource) {
    Int128 sum = 0;
    for (const Use& use : task.uses) {
      if (static_cast<std::size_t>(use.resource) == resource) sum += use.amount;
    }
    return sum;
  }

  // The level at which the resource is full; nothing if all could go at their caps, or all are
  // frozen.
  std::optional<Int128> full_at(std::size_t r, const Rates& rates) const {
    Int128 spare = Int128{std::max<std::int64_t>(capacity_[r] - reserved_[r], 0)} << rate_bits;
    Int128 demand = 0, load = 0;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (!tasks_[t]) continue;
      demand += amount(*tasks_[t], r) << rate_bits;
      if (!rates[t]) load += amount(*tasks_[t], r) * tasks_[t]->weight;
    }
    if (demand <= spare || load == 0) return std::nullopt;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t] && rates[t]) spare -= amount(*tasks_[t], r) * *rates[t];
    }
    return (spare << bits) / load;
  }
  static Int128 capped_at(const Active& task) {
    return ((Int128{rate_one} << bits) + task.weight - 1) / task.weight;
  }

  std::optional<Int128> next_level(const Rates& rates) const {
    std::optional<Int128> lowest;
    const auto consider = [&lowest](Int128 level) {
      if (!lowest || level < *lowest) lowest = level;
    };
    for (std::size_t r = 0; r < capacity_.size(); ++r) {
      if (const auto level = full_at(r, rates)) consider(*level);
    }
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t] && !rates[t]) consider(capped_at(*tasks_[t]));
    }
    return lowest;
  }

  void freeze(Int128 level, Rates& rates) const {
    std::vector<bool> is_full(capacity_.size());
    for (std::size_t r = 0; r < capacity_.size(); ++r) is_full[r] = full_at(r, rates) == level;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (!tasks_[t] || rates[t]) continue;
      bool is_held = capped_at(*tasks_[t]) == level;
      for (const Use& use : tasks_[t]->uses) {
        is_held = is_held || (use.amount > 0 && is_full[static_cast<std::size_t>(use.resource)]);
      }
      if (!is_held) continue;
      rates[t] = static_cast<std::int64_t>(
          std::min<Int128>((tasks_[t]->weight * level) >> bits, rate_one));
    }
  }

  std::vector<std::int64_t> capacity_, reserved_;
  std::vector<std::optional<Active>> tasks_;
};

}  // namespace sim::network
