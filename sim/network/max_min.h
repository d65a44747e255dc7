// Weighted max-min fair rates of tasks that share resources, by progressive filling in integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/fixed.h"

namespace sim::network {

// What a task holds of a resource when it runs at rate one.
struct Use {
  std::int32_t resource = 0;
  std::int64_t amount = 0;  // in the unit of the resource's capacity
};

struct Demand {
  std::int64_t weight = weight_one;
  std::int64_t cap = rate_one;  // largest rate
  std::span<const Use> uses;    // a resource may stand more than once
};

// The levels are raised together: rate = min(cap, weight * level); a resource whose capacity is
// reached freezes the level of every task on it. All resources that saturate at one level freeze
// their tasks together, so tasks that are alike get equal rates whatever their number.
//   level = floor((capacity - used) / load), used = sum amount * rate over frozen tasks,
//   load = sum amount * weight over the others.
// Levels have level_bits more bits than rates, so that large weights do not make them coarse.
// A use of amount zero holds nothing and limits nothing.
// Worked: capacity 3, two tasks of weight 1 and 2 that each use 1 -> rates 1 and 2 (without caps).
// Source: Bertsekas and Gallager, Data Networks, 2nd ed., 1992, section 6.5.2.
class MaxMin {
 public:
  // Writes the rate of each task. O(uses * log resources).
  // REQUIRES: capacities in [0, 2^53), amounts in [0, 2^60], below 2^88 on any one resource,
  // weights in [2^10, 2^38], caps in [0, rate_one]. The largest sum is then of amount * weight,
  // below 2^126.
  void solve(std::span<const std::int64_t> capacity, std::span<const Demand> demands,
             std::span<std::int64_t> rates);
  // Where each resource was full in the last solution; `unlimited` if nothing was held by it.
  std::span<const std::int64_t> levels() const { return levels_; }

  static constexpr std::int64_t unlimited = INT64_MAX;
  // The lowest level at which a task reaches its cap.
  static std::int64_t cap_level(std::int64_t weight, std::int64_t cap);
  static std::int64_t rate_at(std::int64_t weight, std::int64_t cap, std::int64_t level);
  // Where a resource is full that has room for `spare`, sum of amount * rate, and on which a level
  // is worth `load`, sum of amount * weight.
  static std::int64_t level_of(Int128 spare, Int128 load);

 private:
  static constexpr int level_bits = 16;

  struct Level {
    std::int64_t level;
    std::int32_t index;  // of a resource, or of a task at its cap
    bool operator>(const Level& other) const { return level > other.level; }
  };
  void fill_incidence(std::size_t resources, std::span<const Demand> demands);
  void push_levels(std::span<const std::int64_t> capacity, std::span<const Demand> demands);
  void freeze(std::int32_t task, std::int64_t level, const Demand& demand,
              std::span<std::int64_t> rates);
  std::int64_t level_now(std::size_t resource, std::int64_t capacity) const;
  std::int64_t lowest() const;
  void take_full(std::int64_t level, std::span<const std::int64_t> capacity);
  void take_capped(std::int64_t level);

  std::vector<Int128> used_, load_;         // [resource]
  std::vector<std::int64_t> levels_;        // [resource]
  std::vector<std::int32_t> first_, task_;  // tasks of each resource
  std::vector<char> frozen_;                // [task]
  std::size_t unfrozen_ = 0;
  std::vector<Level> full_, capped_;  // heaps
  std::int64_t capped_min_ = 0;       // the lowest in capped_, which is a heap only once reached
  bool capped_is_heap_ = false;
  std::vector<std::int32_t> batch_full_, batch_capped_;
};

}  // namespace sim::network
