// Relabelling, copying and folding a system leaves its rates as they are, to the last bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "sim/network/max_min.h"
#include "tests/sim/network/max_min_case.h"

using namespace sim;
using namespace sim::network;

TEST_CASE("max-min: tasks, resources and uses in another order -> the same rates, bit for bit") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const MaxMinCase c = random_case(random, 30);
    std::vector<std::size_t> task(c.tasks.size()), resource(c.capacity.size());
    std::iota(task.begin(), task.end(), 0);
    std::iota(resource.begin(), resource.end(), 0);
    std::shuffle(task.begin(), task.end(), random);
    std::shuffle(resource.begin(), resource.end(), random);
    MaxMinCase other{std::vector<std::int64_t>(resource.size()), {}};
    for (std::size_t r = 0; r < resource.size(); ++r) other.capacity[resource[r]] = c.capacity[r];
    for (const std::size_t t : task) {
      other.tasks.push_back(c.tasks[t]);
      auto& uses = other.tasks.back().uses;
      std::shuffle(uses.begin(), uses.end(), random);
      for (Use& use : uses) {
        use.resource = static_cast<std::int32_t>(resource[static_cast<std::size_t>(use.resource)]);
      }
    }
    const auto before = solve(c), after = solve(other);
    for (std::size_t i = 0; i < task.size(); ++i) REQUIRE(after[i] == before[task[i]]);
  }
}

namespace {

// k copies side by side; resource 0 is one for all of them, of k times the capacity, if asked.
MaxMinCase copies(const MaxMinCase& c, std::size_t k, bool share_first) {
  MaxMinCase result;
  for (std::size_t copy = 0; copy < k; ++copy) {
    const auto offset = static_cast<std::int32_t>(result.capacity.size());
    result.capacity.insert(result.capacity.end(), c.capacity.begin(), c.capacity.end());
    for (MaxMinCase::Task task : c.tasks) {
      for (Use& use : task.uses) {
        if (!share_first || use.resource > 0) use.resource += offset;
      }
      result.tasks.push_back(task);
    }
  }
  if (share_first) result.capacity[0] *= static_cast<std::int64_t>(k);
  return result;
}

}  // namespace

TEST_CASE(
    "max-min: k copies, apart or on one resource of k times the capacity -> k times the same") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(10'000 + seed);
    const MaxMinCase c = random_case(random);
    const std::size_t k = 2 + random() % 9;
    const auto one = solve(c);
    for (const bool share_first : {false, true}) {
      CAPTURE(share_first);
      const auto many = solve(copies(c, k, share_first));
      for (std::size_t t = 0; t < many.size(); ++t) REQUIRE(many[t] == one[t % one.size()]);
    }
  }
}

TEST_CASE("max-min: k tasks that are alike, as one of k times the use -> the same rates") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(20'000 + seed);
    const MaxMinCase folded = random_case(random);
    MaxMinCase full{folded.capacity, {}};
    MaxMinCase multiplied = folded;
    std::vector<std::size_t> class_of;
    for (std::size_t t = 0; t < folded.tasks.size(); ++t) {
      const std::size_t k = 1 + random() % 6;
      full.tasks.insert(full.tasks.end(), k, folded.tasks[t]);
      class_of.insert(class_of.end(), k, t);
      for (Use& use : multiplied.tasks[t].uses) use.amount *= static_cast<std::int64_t>(k);
    }
    const auto small = solve(multiplied), large = solve(full);
    for (std::size_t i = 0; i < class_of.size(); ++i) REQUIRE(large[i] == small[class_of[i]]);
  }
}

TEST_CASE("max-min: the solver used again for other systems -> as if new") {
  MaxMin used;
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    const MaxMinCase c = random_case(random, 30);
    std::vector<Demand> demands;
    for (const auto& task : c.tasks) demands.push_back({task.weight, task.cap, task.uses});
    std::vector<std::int64_t> rates(demands.size());
    used.solve(c.capacity, demands, rates);
    REQUIRE(rates == solve(c));
  }
}
