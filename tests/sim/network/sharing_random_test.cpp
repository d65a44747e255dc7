// Tasks in progress against a simulator that solves everything at every event.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/sim/network/naive_sharing.h"

using namespace sim;
using namespace sim::network;

namespace {

constexpr Picoseconds ms = 1'000'000'000;

struct Action {
  enum class Kind { start, stop, capacity, reserve };
  Picoseconds at = 0;
  Kind kind = Kind::start;
  std::int32_t index = 0;
  std::int64_t amount = 0;  // work, capacity or what is reserved
  std::int64_t weight = weight_one;
  std::vector<Use> uses;
};
struct Script {
  std::vector<std::int64_t> capacity;
  std::vector<std::int32_t> observed;
  std::vector<Action> actions;  // by time
  std::int32_t tasks = 12;
};
struct Size {
  std::int32_t tasks, actions;
  std::size_t resources_max;
};

class RandomScript {
 public:
  RandomScript(Size size, std::mt19937_64& random) : size_(size), random_(random) {}

  // Instants on a coarse grid, so that many things happen at once.
  Script write() {
    script_.tasks = size_.tasks;
    const std::size_t resources = 1 + random_() % size_.resources_max;
    for (std::size_t r = 0; r < resources; ++r) {
      script_.capacity.push_back(1 + below(40));
      if (below(4) == 0) script_.observed.push_back(static_cast<std::int32_t>(r));
    }
    // One weight, so that groups are large, a few, or as many as tasks.
    const std::int64_t weights[] = {1, 6, 10'000};
    weights_ = weights[below(3)];
    // Routes alike, or of every kind.
    if (below(2) == 0) {
      for (int i = 0; i < 3; ++i) routes_.push_back(random_uses());
    }
    Picoseconds now = 0;
    for (int i = 0; i < size_.actions; ++i) {
      now += below(4) * 25 * ms / 10;
      add(now);
    }
    std::ranges::stable_sort(script_.actions, {}, &Action::at);
    return script_;
  }

 private:
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  std::int32_t random_resource() {
    return static_cast<std::int32_t>(random_() % script_.capacity.size());
  }
  std::vector<Use> random_uses() {
    std::vector<Use> uses;
    for (std::int64_t u = below(4); u > 0; --u) uses.push_back({random_resource(), below(20)});
    return uses;
  }

  void add(Picoseconds now) {
    auto& actions = script_.actions;
    const std::int64_t dice = below(20);
    if (dice == 0) {
      actions.push_back({now, Action::Kind::capacity, random_resource(), below(40), 0, {}});
    } else if (dice == 1) {
      const std::int64_t amount = 1 + below(20);
      const std::int32_t resource = random_resource();
      actions.push_back({now, Action::Kind::reserve, resource, amount, 0, {}});
      actions.push_back({now + below(20) * ms, Action::Kind::reserve, resource, -amount, 0, {}});
    } else {
      const Picoseconds work = dice < 10 ? (1 + below(40)) * ms / 2 : 1 + below(20 * ms);
      actions.push_back({now, dice == 2 ? Action::Kind::stop : Action::Kind::start,
                         static_cast<std::int32_t>(below(size_.tasks)), work,
                         weight_one * (1 + below(weights_)) / 3,
                         routes_.empty() ? random_uses() : routes_[random_() % 3]});
    }
  }

  Size size_;
  std::mt19937_64& random_;
  Script script_;
  std::int64_t weights_ = 1;
  std::vector<std::vector<Use>> routes_;
};

class Comparison {
 public:
  Comparison(const Script& script, bool is_small, std::size_t patience)
      : script_(script),
        is_small_(is_small),
        sharing_(script.capacity, static_cast<std::size_t>(script.tasks), script.observed),
        naive_(script.capacity, static_cast<std::size_t>(script.tasks)) {
    sharing_.set_patience(patience);
  }

  // Returns how many tasks ended.
  int play() {
    std::size_t next = 0;
    for (;;) {
      end_due();
      for (; next < script_.actions.size() && script_.actions[next].at == now_; ++next) {
        apply(script_.actions[next]);
      }
      sharing_.resolve(now_);
      if (is_small_) {
        naive_.resolve();
      } else {
        naive_.resolve_with_max_min();
      }
      Picoseconds then = check_equal_state();
      if (next < script_.actions.size()) then = std::min(then, script_.actions[next].at);
      if (then == Sharing::never) return ended_;
      naive_.advance(then - now_);
      now_ = then;
    }
  }

 private:
  void end_due() {
    due_.clear();
    sharing_.take_due(now_, due_);
    std::ranges::sort(due_);
    std::vector<std::int32_t> expected;
    for (std::int32_t t = 0; t < script_.tasks; ++t) {
      if (!naive_.in_progress(t) || naive_.ends_at(t, now_) > now_) continue;
      naive_.stop(t);
      expected.push_back(t);
      ++ended_;
    }
    REQUIRE(due_ == expected);
  }

  // Returns the first end.
  Picoseconds check_equal_state() {
    Picoseconds first = Sharing::never;
    for (std::int32_t t = 0; t < script_.tasks; ++t) {
      if (sharing_.in_progress(t) != naive_.in_progress(t)) FAIL(t);
      if (!naive_.in_progress(t)) continue;
      first = std::min(first, naive_.ends_at(t, now_));
      // A check takes longer than what it checks.
      if (sharing_.rate(t) == naive_.rate(t) &&
          sharing_.remaining(t, now_) == naive_.remaining(t) &&
          sharing_.ends_at(t) == naive_.ends_at(t, now_)) {
        continue;
      }
      CAPTURE(t);
      REQUIRE(sharing_.rate(t) == naive_.rate(t));
      REQUIRE((sharing_.remaining(t, now_) == naive_.remaining(t)));
      REQUIRE(sharing_.ends_at(t) == naive_.ends_at(t, now_));
    }
    REQUIRE(sharing_.earliest() == first);
    for (std::size_t r = 0; r < script_.capacity.size(); ++r) {
      const auto resource = static_cast<std::int32_t>(r);
      REQUIRE((sharing_.load(resource) == naive_.load(resource)));
    }
    return first;
  }

  void apply(const Action& action) {
    switch (action.kind) {
      case Action::Kind::start:
        // A task in progress gives way to itself: stopped, and begun at the same instant.
        if (sharing_.in_progress(action.index)) {
          if (action.amount % 4 != 0) return;
          sharing_.stop(action.index);
        }
        sharing_.start(action.index, action.amount, action.weight, action.uses, now_);
        naive_.start(action.index, action.amount, action.weight, action.uses);
        return;
      case Action::Kind::stop:
        if (!sharing_.in_progress(action.index)) return;
        sharing_.stop(action.index);
        naive_.stop(action.index);
        return;
      case Action::Kind::capacity:
        sharing_.set_capacity(action.index, action.amount);
        naive_.set_capacity(action.index, action.amount);
        return;
      case Action::Kind::reserve:
        sharing_.reserve(action.index, action.amount);
        naive_.reserve(action.index, action.amount);
    }
  }

  const Script script_;
  bool is_small_;
  Sharing sharing_;
  NaiveSharing naive_;
  Picoseconds now_ = 0;
  std::vector<Sharing::Task> due_;
  int ended_ = 0;
};

// Flows of different sizes between 64 hosts behind 8 leaves: one system, of levels that are close,
// so that changes spread far.
Script tree_script(std::mt19937_64& random) {
  constexpr std::int32_t hosts = 64, leaves = 8;
  Script script;
  script.tasks = 512;
  script.capacity.assign(2 * hosts, 100);
  script.capacity.resize(2 * hosts + 2 * leaves, 100 * hosts / leaves / 2);
  for (std::int32_t task = 0; task < script.tasks; ++task) {
    const auto from = task % hosts, to = static_cast<std::int32_t>(random() % hosts);
    const Picoseconds work = ms + static_cast<Picoseconds>(random() % ms);
    script.actions.push_back({0,
                              Action::Kind::start,
                              task,
                              work,
                              weight_one,
                              {{from, 100},
                               {hosts + to, 100},
                               {2 * hosts + from / leaves, 100},
                               {2 * hosts + leaves + to / leaves, 100}}});
  }
  return script;
}

int play(unsigned seed, Size size) {
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const Script script = RandomScript(size, random).write();
  // Changes are never followed, sometimes given up, or followed to their ends.
  return Comparison(script, size.tasks < 20, seed % 3).play();
}

}  // namespace

TEST_CASE(
    "sharing: 2,000 random scripts -> rates, loads and ends of a naive simulator, to the ps") {
  int ended = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) ended += play(seed, {12, 80, 6});
  CHECK(ended > 50'000);
}

TEST_CASE("sharing: 1,000 scripts of 100 tasks -> as if everything were solved at every event") {
  int ended = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) ended += play(seed, {100, 250, 24});
  CHECK(ended > 100'000);
}

TEST_CASE("sharing: 10 scripts of 600 tasks, in which changes reach far -> the same") {
  int ended = 0;
  for (unsigned seed = 0; seed < 10; ++seed) ended += play(seed, {600, 1200, 40});
  CHECK(ended > 5'000);
}

TEST_CASE("sharing: 512 flows over a tree -> as if everything were solved at every event") {
  for (unsigned seed = 0; seed < 3; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    CHECK(Comparison(tree_script(random), false, seed).play() == 512);
  }
}
