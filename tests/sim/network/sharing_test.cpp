// Tasks in progress: by hand, and against a simulator that solves everything at every event.
#include "sim/network/sharing.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/sim/network/naive_sharing.h"

using namespace sim;
using namespace sim::network;

namespace {

constexpr Picoseconds ms = 1'000'000'000;
constexpr std::int64_t link = 50'000'000'000;  // bytes/s

}  // namespace

TEST_CASE("sharing: alone -> ends after its work; the rate is one") {
  Sharing sharing({link}, 1);
  const Use uses[] = {{0, link}};
  sharing.start(0, 20 * ms, weight_one, uses, 3 * ms);
  sharing.resolve(3 * ms);
  CHECK(sharing.rate(0) == rate_one);
  CHECK(sharing.ends_at(0) == 23 * ms);
  CHECK((sharing.load(0) == (Int128{link} << rate_bits)));
}

TEST_CASE("sharing: a second one halves the rate until it is done -> 20 ms becomes 30 ms") {
  // Both alone 20 ms and 5 ms. From 4 ms on at a half: the short one needs 10 ms, to 14 ms; the
  // long one has done 4 + 5 = 9 by then, and needs 11 more: 25 ms.
  Sharing sharing({100}, 2);
  const Use uses[] = {{0, 100}};
  sharing.start(0, 20 * ms, weight_one, uses, 0);
  sharing.resolve(0);
  sharing.start(1, 5 * ms, weight_one, uses, 4 * ms);
  sharing.resolve(4 * ms);
  CHECK(sharing.changed().size() == 2);
  CHECK(sharing.ends_at(0) == 36 * ms);
  CHECK(sharing.ends_at(1) == 14 * ms);
  sharing.stop(1);
  sharing.resolve(14 * ms);
  CHECK(sharing.ends_at(0) == 25 * ms);
}

TEST_CASE("sharing: capacity zero from 4 to 9 ms -> 10 ms of work end at 15 ms") {
  Sharing sharing({7}, 1);
  const Use uses[] = {{0, 7}};
  sharing.start(0, 10 * ms, weight_one, uses, 0);
  sharing.resolve(0);
  sharing.set_capacity(0, 0);
  sharing.resolve(4 * ms);
  CHECK(sharing.rate(0) == 0);
  CHECK(sharing.ends_at(0) == Sharing::never);
  sharing.set_capacity(0, 7);
  sharing.resolve(9 * ms);
  CHECK(sharing.ends_at(0) == 15 * ms);
}

TEST_CASE("sharing: a quarter of the multiprocessors reserved for 2 ms -> 3 ms become 3.5 ms") {
  // 1 ms alone, 2 ms at 3/4 = 1.5 ms of work, 0.5 ms alone.
  Sharing sharing({multiprocessors_one}, 1);
  const Use uses[] = {{0, multiprocessors_one}};
  sharing.start(0, 3 * ms, weight_one, uses, 0);
  sharing.resolve(0);
  sharing.reserve(0, multiprocessors_one / 4);
  sharing.resolve(1 * ms);
  CHECK(sharing.rate(0) == rate_one * 3 / 4);
  CHECK(sharing.ends_at(0) == 1 * ms + 2'666'666'667);  // ceil(2 ms / 0.75)
  sharing.reserve(0, -multiprocessors_one / 4);
  sharing.resolve(3 * ms);
  CHECK(sharing.ends_at(0) == 3'500'000'000);
}

TEST_CASE("sharing: more reserved than there is -> rate zero, not below") {
  Sharing sharing({8}, 1);
  const Use uses[] = {{0, 8}};
  sharing.start(0, ms, weight_one, uses, 0);
  sharing.reserve(0, 6);
  sharing.reserve(0, 6);
  sharing.resolve(0);
  CHECK(sharing.rate(0) == 0);
  sharing.reserve(0, -6);
  sharing.resolve(ms);
  CHECK(sharing.rate(0) == rate_one / 4);
  CHECK(sharing.ends_at(0) == 5 * ms);
}

TEST_CASE("sharing: a rate so low that the end is out of reach -> never, not an early end") {
  // Rate 2 of 2^32: 1 s of work takes 2^31 s, 68 years.
  Sharing sharing({1}, 1);
  const Use uses[] = {{0, std::int64_t{1} << 31}};
  sharing.start(0, 1000 * ms, weight_one, uses, 0);
  sharing.resolve(0);
  CHECK(sharing.rate(0) == 2);
  CHECK(sharing.ends_at(0) == Sharing::never);
  sharing.set_capacity(0, std::int64_t{1} << 31);
  sharing.resolve(0);
  CHECK(sharing.ends_at(0) == 1000 * ms);
}

TEST_CASE("sharing: only what is joined by full resources is reported as changed") {
  // 0 and 1 share a full link; 2 is on another link; 3 crosses both, which makes them one system.
  Sharing sharing({10, 10}, 4);
  const Use first[] = {{0, 10}}, second[] = {{1, 10}}, both[] = {{0, 10}, {1, 10}};
  sharing.start(0, 10 * ms, weight_one, first, 0);
  sharing.start(2, 10 * ms, weight_one, second, 0);
  sharing.resolve(0);
  CHECK(sharing.changed().size() == 2);
  sharing.start(1, 10 * ms, weight_one, first, ms);
  sharing.resolve(ms);
  CHECK(std::vector(sharing.changed().begin(), sharing.changed().end()) ==
        std::vector<Sharing::Task>{1, 0});
  sharing.start(3, 10 * ms, weight_one, both, 2 * ms);
  sharing.resolve(2 * ms);
  CHECK(sharing.changed().size() == 4);
  // A third each on link 0; link 1 has two thirds left.
  CHECK(sharing.rate(2) == rate_one - sharing.rate(3));
  sharing.resolve(3 * ms);
  CHECK(sharing.changed().empty());
}

namespace {

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
  std::vector<Action> actions;  // by time
};
constexpr std::int32_t task_count = 12;

// Instants on a coarse grid, so that many things happen at once.
Script random_script(std::mt19937_64& random) {
  const auto below = [&random](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  Script script;
  const std::size_t resources = 1 + random() % 6;
  for (std::size_t r = 0; r < resources; ++r) script.capacity.push_back(1 + below(40));
  Picoseconds now = 0;
  for (int i = 0; i < 80; ++i) {
    now += below(4) * 25 * ms / 10;
    const auto resource = static_cast<std::int32_t>(random() % resources);
    const std::int64_t dice = below(20);
    if (dice == 0) {
      script.actions.push_back({now, Action::Kind::capacity, resource, below(40), 0, {}});
    } else if (dice == 1) {
      const std::int64_t amount = 1 + below(20);
      script.actions.push_back({now, Action::Kind::reserve, resource, amount, 0, {}});
      script.actions.push_back(
          {now + below(20) * ms, Action::Kind::reserve, resource, -amount, 0, {}});
    } else {
      const auto task = static_cast<std::int32_t>(below(task_count));
      std::vector<Use> uses;
      for (std::int64_t u = below(4); u > 0; --u) {
        uses.push_back({static_cast<std::int32_t>(random() % resources), below(20)});
      }
      const Picoseconds work = dice < 10 ? (1 + below(40)) * ms / 2 : 1 + below(20 * ms);
      const auto kind = dice == 2 ? Action::Kind::stop : Action::Kind::start;
      script.actions.push_back({now, kind, task, work, weight_one * (1 + below(6)) / 3, uses});
    }
  }
  std::stable_sort(script.actions.begin(), script.actions.end(),
                   [](const Action& a, const Action& b) { return a.at < b.at; });
  return script;
}

void check_equal_state(Sharing& sharing, NaiveSharing& naive, const Script& script) {
  for (std::int32_t t = 0; t < task_count; ++t) {
    CAPTURE(t);
    REQUIRE(sharing.in_progress(t) == naive.in_progress(t));
    if (sharing.in_progress(t)) REQUIRE(sharing.rate(t) == naive.rate(t));
  }
  for (std::size_t r = 0; r < script.capacity.size(); ++r) {
    const auto resource = static_cast<std::int32_t>(r);
    REQUIRE((sharing.load(resource) == naive.load(resource)));
  }
}

void apply(const Action& action, Sharing& sharing, NaiveSharing& naive, Picoseconds now) {
  switch (action.kind) {
    case Action::Kind::start:
      if (sharing.in_progress(action.index)) return;
      sharing.start(action.index, action.amount, action.weight, action.uses, now);
      naive.start(action.index, action.amount, action.weight, action.uses);
      return;
    case Action::Kind::stop:
      if (!sharing.in_progress(action.index)) return;
      sharing.stop(action.index);
      naive.stop(action.index);
      return;
    case Action::Kind::capacity:
      sharing.set_capacity(action.index, action.amount);
      naive.set_capacity(action.index, action.amount);
      return;
    case Action::Kind::reserve:
      sharing.reserve(action.index, action.amount);
      naive.reserve(action.index, action.amount);
  }
}

// Ends are kept as run() keeps them: only those in changed() are asked for again.
int play(const Script& script) {
  Sharing sharing(script.capacity, task_count);
  NaiveSharing naive(script.capacity, task_count);
  std::vector<Picoseconds> ends(task_count, Sharing::never);
  std::size_t next = 0;
  int ended = 0;
  for (Picoseconds now = 0;;) {
    for (std::int32_t t = 0; t < task_count; ++t) {
      if (!sharing.in_progress(t)) continue;
      const Picoseconds naive_end = naive.ends_at(t, now);
      REQUIRE(ends[static_cast<std::size_t>(t)] == naive_end);
      if (naive_end > now) continue;
      sharing.stop(t);
      naive.stop(t);
      ends[static_cast<std::size_t>(t)] = Sharing::never;
      ++ended;
    }
    for (; next < script.actions.size() && script.actions[next].at == now; ++next) {
      const Action& action = script.actions[next];
      apply(action, sharing, naive, now);
      if (action.kind == Action::Kind::stop) {
        ends[static_cast<std::size_t>(action.index)] = Sharing::never;
      }
    }
    sharing.resolve(now);
    naive.resolve();
    for (const Sharing::Task task : sharing.changed()) {
      ends[static_cast<std::size_t>(task)] = sharing.ends_at(task);
    }
    check_equal_state(sharing, naive, script);
    Picoseconds then = *std::min_element(ends.begin(), ends.end());
    if (next < script.actions.size()) then = std::min(then, script.actions[next].at);
    if (then == Sharing::never) return ended;
    naive.advance(then - now);
    now = then;
  }
}

}  // namespace

TEST_CASE("sharing: 400 random scripts -> rates, loads and ends of a naive simulator, to the ps") {
  int ended = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    ended += play(random_script(random));
  }
  CHECK(ended > 10'000);
}
