// A system of tasks and resources that owns its uses, for tests of the solver.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "sim/network/max_min.h"

namespace sim::network {

struct MaxMinCase {
  struct Task {
    std::int64_t weight = weight_one, cap = rate_one;
    std::vector<Use> uses;
  };
  std::vector<std::int64_t> capacity;
  std::vector<Task> tasks;
};

inline std::vector<std::int64_t> solve(const MaxMinCase& c) {
  std::vector<Demand> demands;
  for (const MaxMinCase::Task& task : c.tasks) {
    demands.push_back({task.weight, task.cap, task.uses});
  }
  std::vector<std::int64_t> rates(c.tasks.size(), -1);
  MaxMin().solve(c.capacity, demands, rates);
  return rates;
}

// The rate as a fraction of the speed alone.
inline double share(std::int64_t rate) {
  return static_cast<double>(rate) / static_cast<double>(rate_one);
}

// Small numbers, so that resources often saturate at one level; some capacities zero, some caps
// below one, some resources used twice by a task, some uses of nothing.
inline MaxMinCase random_case(std::mt19937_64& random, std::size_t tasks_max = 10) {
  const auto below = [&random](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  MaxMinCase result;
  const std::int64_t unit = std::int64_t{1} << below(30);
  const std::size_t resources = 1 + random() % 5;
  for (std::size_t r = 0; r < resources; ++r) {
    result.capacity.push_back(below(12) == 0 ? 0 : unit * (1 + below(24)));
  }
  const std::size_t tasks = 1 + random() % tasks_max;
  const bool is_weighted = below(2) == 0, is_capped = below(2) == 0;
  for (std::size_t t = 0; t < tasks; ++t) {
    MaxMinCase::Task task;
    if (is_weighted) task.weight = weight_one * (1 + below(8)) / 2;
    if (is_capped && below(3) == 0) task.cap = rate_one * below(17) / 16;
    const std::int64_t uses = below(static_cast<std::uint64_t>(resources) + 2);
    for (std::int64_t u = 0; u < uses; ++u) {
      const std::int64_t amount = below(15) == 0 ? 0 : unit * (1 + below(16)) / (1 + below(2));
      task.uses.push_back({static_cast<std::int32_t>(random() % resources), amount});
    }
    result.tasks.push_back(task);
  }
  return result;
}

}  // namespace sim::network
