// The solver against an exact one that works differently, and against the definition.
#include <doctest/doctest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <optional>

#include "sim/network/max_min.h"
#include "tests/approximately.h"
#include "tests/sim/network/max_min_case.h"

using namespace sim;
using namespace sim::network;
using Rational = boost::multiprecision::cpp_rational;

namespace {

// Each resource advertises the level at which it would be full if every task on it took what the
// others let it; advertised again until nothing changes. The fixed point is the max-min optimum:
// a task below its cap is held by a full resource on which no level is higher.
class Advertiser {
 public:
  explicit Advertiser(const MaxMinCase& c) : case_(c), levels_(c.capacity.size()) {
    use_.assign(c.tasks.size(), std::vector<std::int64_t>(c.capacity.size(), 0));
    for (std::size_t t = 0; t < c.tasks.size(); ++t) {
      for (const Use& use : c.tasks[t].uses) {
        use_[t][static_cast<std::size_t>(use.resource)] += use.amount;
      }
    }
  }

  std::vector<Rational> rates() {
    bool is_changed = true;
    for (int round = 0; is_changed; ++round) {
      REQUIRE(round < 1000);
      is_changed = false;
      for (std::size_t r = 0; r < levels_.size(); ++r) {
        const auto level = advertised(r);
        if (level == levels_[r]) continue;
        levels_[r] = level;
        is_changed = true;
      }
    }
    std::vector<Rational> result;
    for (std::size_t t = 0; t < use_.size(); ++t) result.push_back(limit(t, levels_.size()));
    return result;
  }

 private:
  Rational weight(std::size_t t) const { return Rational(case_.tasks[t].weight, weight_one); }

  // What the task may take as far as its cap and all resources but one go.
  Rational limit(std::size_t t, std::size_t except) const {
    Rational result(case_.tasks[t].cap, rate_one);
    for (std::size_t r = 0; r < levels_.size(); ++r) {
      if (r == except || use_[t][r] == 0 || !levels_[r]) continue;
      result = std::min<Rational>(result, weight(t) * *levels_[r]);
    }
    return result;
  }

  // nullopt: the resource cannot be filled.
  std::optional<Rational> advertised(std::size_t r) const {
    struct Limited {
      Rational level, used, load;
    };
    std::vector<Limited> tasks;
    Rational load = 0, spare = case_.capacity[r];
    for (std::size_t t = 0; t < use_.size(); ++t) {
      if (use_[t][r] == 0) continue;
      const Rational at = limit(t, r);
      tasks.push_back({at / weight(t), at * use_[t][r], weight(t) * use_[t][r]});
      load += tasks.back().load;
    }
    std::sort(tasks.begin(), tasks.end(),
              [](const Limited& a, const Limited& b) { return a.level < b.level; });
    for (const Limited& task : tasks) {
      if (task.level * load > spare) return spare / load;
      spare -= task.used;
      load -= task.load;
    }
    return std::nullopt;
  }

  const MaxMinCase& case_;
  std::vector<std::vector<std::int64_t>> use_;  // [task][resource]
  std::vector<std::optional<Rational>> levels_;
};

// Feasible; and each task at its cap, or on a resource that has no room for one more unit of level
// and on which nobody has more of its weight. All in integers, without tolerance.
void check_optimal(const MaxMinCase& c, const std::vector<std::int64_t>& rates) {
  std::vector<Int128> left(c.capacity.size()), unit(c.capacity.size(), 0);
  for (std::size_t r = 0; r < left.size(); ++r) left[r] = Int128{c.capacity[r]} << rate_bits;
  for (std::size_t t = 0; t < rates.size(); ++t) {
    REQUIRE(rates[t] >= 0);
    REQUIRE(rates[t] <= c.tasks[t].cap);
    for (const Use& use : c.tasks[t].uses) {
      const std::size_t r = static_cast<std::size_t>(use.resource);
      left[r] -= Int128{use.amount} * rates[t];
      // One unit of level is worth at most weight units of rate, and one is lost by rounding down.
      unit[r] += Int128{use.amount} * (c.tasks[t].weight + weight_one);
    }
  }
  for (const Int128 l : left) REQUIRE(l >= 0);
  for (std::size_t t = 0; t < rates.size(); ++t) {
    if (rates[t] == c.tasks[t].cap) continue;
    const bool is_held =
        std::any_of(c.tasks[t].uses.begin(), c.tasks[t].uses.end(), [&](const Use& use) {
          const std::size_t r = static_cast<std::size_t>(use.resource);
          if (use.amount == 0 || (left[r] << weight_bits) >= unit[r]) return false;
          for (std::size_t other = 0; other < rates.size(); ++other) {
            const auto& uses = c.tasks[other].uses;
            const bool is_on = std::any_of(uses.begin(), uses.end(), [&](const Use& u) {
              return u.resource == use.resource && u.amount > 0;
            });
            // rate + 1 is above weight * level, and the other's rate at most its weight * level.
            if (is_on && Int128{rates[other]} * c.tasks[t].weight >=
                             Int128{rates[t] + 1} * c.tasks[other].weight) {
              return false;
            }
          }
          return true;
        });
    CAPTURE(t);
    REQUIRE(is_held);
  }
}

}  // namespace

TEST_CASE("max-min: the exact solver agrees with a case by hand -> 1/8, 1/8, 3/8") {
  // The parking lot of max_min_test.cpp.
  const MaxMinCase c{{1, 2}, {{.uses = {{0, 4}, {1, 4}}}, {.uses = {{0, 4}}}, {.uses = {{1, 4}}}}};
  CHECK(Advertiser(c).rates() ==
        std::vector<Rational>{Rational(1, 8), Rational(1, 8), Rational(3, 8)});
}

TEST_CASE("max-min: 3,000 random systems -> the exact rates, rounded down by a few units") {
  int saturated = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const MaxMinCase c = random_case(random);
    const auto rates = solve(c);
    const auto exact = Advertiser(c).rates();
    for (std::size_t t = 0; t < rates.size(); ++t) {
      CAPTURE(t);
      const double difference =
          static_cast<double>(Rational(Rational(rates[t], rate_one) - exact[t])) * rate_one;
      // What is rounded down at one level is left for the next, and grows by the ratio of their
      // uses: in these systems, of ratios up to 32, by less than this [units of 2^-32].
      REQUIRE(std::abs(difference) < 200);
      saturated += exact[t] < Rational(c.tasks[t].cap, rate_one);
    }
  }
  CHECK(saturated > 5000);
}

TEST_CASE("max-min: 5,000 random systems -> feasible, and nobody can have more") {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(1'000'000 + seed);
    const MaxMinCase c = random_case(random, 60);
    check_optimal(c, solve(c));
  }
}

TEST_CASE("max-min: 300 random systems of rates and weights as in clusters -> optimal") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(2'000'000 + seed);
    MaxMinCase c;
    for (int r = 0; r < 20; ++r) {
      c.capacity.push_back(
          static_cast<std::int64_t>(1e8 + 4e11 * std::pow(double(random() % 1000) / 1000, 4)));
    }
    for (int t = 0; t < 100; ++t) {
      const std::int64_t alone =
          100'000'000 + static_cast<std::int64_t>(random() % 400'000'000'000);
      MaxMinCase::Task task{.weight = byte_fair_weight(alone), .uses = {}};
      for (std::uint64_t u = 0; u <= random() % 5; ++u) {
        task.uses.push_back(
            {static_cast<std::int32_t>(random() % 20), alone / (1 << random() % 3)});
      }
      c.tasks.push_back(task);
    }
    check_optimal(c, solve(c));
  }
}
