// run() on random systems against a loop that looks at every stream at every instant.
#include <doctest/doctest.h>

#include "tests/sim/network/naive_sharing.h"
#include "tests/sim/network/random_system.h"

using namespace sim;
using namespace sim::network;

namespace {

class NaiveRun {
 public:
  explicit NaiveRun(const HandSystem& hand)
      : system_(hand.take()),
        operations_(hand.operations()),
        sharing_(system_.capacity, operations_.size()),
        states_(operations_.size()) {}

  // [stream][step]
  std::vector<std::vector<Record>> records() {
    for (;;) {
      while (changes_something()) continue;
      sharing_.resolve();
      const Picoseconds next = next_instant();
      if (next == Sharing::never) break;
      sharing_.advance(next - now_);
      now_ = next;
    }
    std::vector<std::vector<Record>> result;
    for (std::size_t s = 0; s < states_.size(); ++s) {
      REQUIRE(states_[s].records.size() == operations_[s].size());
      result.push_back(states_[s].records);
    }
    return result;
  }

 private:
  struct State {
    std::vector<bool> is_reserved;  // [wait] of the operation the stream is at
    bool is_started = false, is_flowing = false;
    Picoseconds started_at = 0;
    std::vector<Record> records;
  };

  std::int32_t ended(std::int32_t s) const {
    return static_cast<std::int32_t>(states_[static_cast<std::size_t>(s)].records.size());
  }

  bool changes_something() {
    if (change_ < system_.changes.size() && system_.changes[change_].at == now_) {
      sharing_.set_capacity(system_.changes[change_].resource, system_.changes[change_].capacity);
      ++change_;
      return true;
    }
    for (std::size_t s = 0; s < states_.size(); ++s) {
      if (states_[s].records.size() < operations_[s].size() && moves(s)) return true;
    }
    return false;
  }

  bool moves(std::size_t s) {
    State& state = states_[s];
    const Operation& o = operations_[s][state.records.size()];
    const auto stream = static_cast<std::int32_t>(s);
    if (!state.is_started) return starts(state, o);
    const bool loads = !o.uses.empty() && o.work > 0;
    if (loads && !state.is_flowing && state.started_at + o.lag == now_) {
      sharing_.start(stream, o.work, o.weight, o.uses);
      state.is_flowing = true;
      return true;
    }
    const bool is_over = loads ? state.is_flowing && sharing_.ends_at(stream, now_) == now_
                               : state.started_at + o.lag + o.work == now_;
    if (!is_over) return false;
    if (state.is_flowing) sharing_.stop(stream);
    reserve_all(o, -1);
    state.records.push_back({stream, ended(stream), state.started_at, now_});
    state.is_started = state.is_flowing = false;
    state.is_reserved.clear();
    return true;
  }

  bool starts(State& state, const Operation& o) {
    state.is_reserved.resize(o.waits.size());
    bool are_met = true;
    for (std::size_t w = 0; w < o.waits.size(); ++w) {
      for (const std::int32_t target : o.waits[w].streams) {
        if (ended(target) < o.waits[w].steps) {
          are_met = false;
        } else if (!state.is_reserved[w]) {
          state.is_reserved[w] = true;
          for (const std::int32_t r : o.waits[w].reserve) sharing_.reserve(r, o.reserve);
        }
      }
    }
    if (!are_met) return false;
    state.is_started = true;
    state.started_at = now_;
    return true;
  }

  void reserve_all(const Operation& o, int sign) {
    for (const WaitFor& wait : o.waits) {
      for (const std::int32_t r : wait.reserve) sharing_.reserve(r, sign * o.reserve);
    }
  }

  Picoseconds next_instant() {
    Picoseconds next = Sharing::never;
    for (std::size_t s = 0; s < states_.size(); ++s) {
      const State& state = states_[s];
      if (!state.is_started) continue;
      const Operation& o = operations_[s][state.records.size()];
      const bool loads = !o.uses.empty() && o.work > 0;
      Picoseconds at = state.started_at + o.lag + (loads ? 0 : o.work);
      if (state.is_flowing) at = sharing_.ends_at(static_cast<std::int32_t>(s), now_);
      next = std::min(next, at);
    }
    if (change_ < system_.changes.size()) next = std::min(next, system_.changes[change_].at);
    return next;
  }

  System system_;
  const std::vector<std::vector<Operation>>& operations_;
  NaiveSharing sharing_;
  std::vector<State> states_;
  std::size_t change_ = 0;
  Picoseconds now_ = 0;
};

// Without a pause at the end, so that everything ends.
void add_changes(HandSystem& system, std::mt19937_64& random) {
  const auto resources = system.take().capacity.size();
  Picoseconds at = 0;
  for (std::uint64_t i = random() % 6; i > 0; --i) {
    at += static_cast<Picoseconds>(random() % 8) * 125;
    const auto resource = static_cast<std::int32_t>(random() % resources);
    system.change(at, resource, random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % 90));
  }
  for (std::size_t r = 0; r < resources; ++r) {
    system.change(at + 300, static_cast<std::int32_t>(r), 50);
  }
}

}  // namespace

TEST_CASE("run: 2,000 random systems -> every start and end of a naive loop, to the picosecond") {
  std::size_t compared = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    HandSystem system = random_system(random);
    if (seed % 2 == 1) add_changes(system, random);
    const auto expected = NaiveRun(system).records();
    for (const Record& record : outcome(system.take()).records) {
      const Record& other =
          expected[static_cast<std::size_t>(record.stream)][static_cast<std::size_t>(record.step)];
      CAPTURE(record.stream);
      CAPTURE(record.step);
      REQUIRE(record.started_at == other.started_at);
      REQUIRE(record.ended_at == other.ended_at);
      ++compared;
    }
  }
  CHECK(compared > 30'000);
}
