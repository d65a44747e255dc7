// Schedules against the closed forms, by an independent simulation of dependencies.
#include "sim/plan/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "tests/approximately.h"

using namespace sim::plan;

namespace {

struct Case {
  ScheduleKind kind;
  int stages, virtual_stages, micro_batches;
};

std::vector<Case> all_cases() {
  std::vector<Case> result;
  for (const int p : {2, 3, 4, 8}) {
    for (const int m : {p, 2 * p, 4 * p}) {
      result.push_back({ScheduleKind::gpipe, p, 1, m});
      result.push_back({ScheduleKind::one_f_one_b, p, 1, m});
      for (const int v : {2, 3, 4}) result.push_back({ScheduleKind::interleaved, p, v, m});
    }
  }
  return result;
}

std::vector<std::vector<Pass>> all_stages(const Case& c) {
  std::vector<std::vector<Pass>> result;
  for (int stage = 0; stage < c.stages; ++stage) {
    result.push_back(schedule(c.kind, c.stages, c.virtual_stages, c.micro_batches, stage));
  }
  return result;
}

// When the last pass ends. A forward pass waits for that of the virtual stage before, a backward
// pass for that of the one behind (the last one's for its own forward); a stage runs its passes in
// order. Fails when none can go on.
int makespan(const Case& c, int forward, int backward) {
  const auto passes = all_stages(c);
  const int last = c.stages * c.virtual_stages - 1;
  std::map<std::tuple<bool, int, int>, int> ended;  // (is backward, micro-batch, virtual stage)
  std::vector<std::size_t> next(passes.size(), 0);
  std::vector<int> free_at(passes.size(), 0);
  std::size_t done = 0, total = 0;
  for (const auto& of_stage : passes) total += of_stage.size();
  while (done < total) {
    const std::size_t before = done;
    for (std::size_t s = 0; s < passes.size(); ++s) {
      while (next[s] < passes[s].size()) {
        const Pass& pass = passes[s][next[s]];
        const bool is_back = pass.kind == Pass::Kind::backward;
        const int part = pass.virtual_stage * c.stages + static_cast<int>(s);
        int ready = 0;
        if (is_back || part > 0) {
          const bool turns = is_back && part == last;
          const auto needed = ended.find({is_back && !turns, pass.micro_batch,
                                          turns ? part : (is_back ? part + 1 : part - 1)});
          if (needed == ended.end()) break;
          ready = needed->second;
        }
        free_at[s] = std::max(free_at[s], ready) + (is_back ? backward : forward);
        ended[{is_back, pass.micro_batch, part}] = free_at[s];
        ++next[s], ++done;
      }
    }
    REQUIRE(done > before);  // else a deadlock
  }
  return *std::max_element(free_at.begin(), free_at.end());
}

}  // namespace

TEST_CASE("schedule: 1F1B, 4 stages, 8 micro-batches, 1 and 2 ms -> 33 ms; 2 virtual -> 28.5 ms") {
  // 11 x 3 ms. Interleaved passes are half as long: (16 + 3) x 1.5 ms, counted in half
  // milliseconds.
  CHECK(makespan({ScheduleKind::one_f_one_b, 4, 1, 8}, 1, 2) == 33);
  CHECK(makespan({ScheduleKind::interleaved, 4, 2, 8}, 1, 2) == 57);
}

TEST_CASE("schedule: without communication all take the closed forms' time, and none deadlocks") {
  for (const Case& c : all_cases()) {
    CAPTURE(c.stages);
    CAPTURE(c.virtual_stages);
    CAPTURE(c.micro_batches);
    for (const auto& [forward, backward] : {std::pair(1, 1), std::pair(1, 2), std::pair(3, 5)}) {
      // (m + p - 1)(F + B); interleaved (m v + p - 1)(f + b).
      CHECK(makespan(c, forward, backward) ==
            (c.micro_batches * c.virtual_stages + c.stages - 1) * (forward + backward));
    }
  }
}

TEST_CASE("schedule: fewer micro-batches than stages, and one stage, work too") {
  CHECK(makespan({ScheduleKind::one_f_one_b, 8, 1, 3}, 1, 2) == (3 + 7) * 3);
  CHECK(makespan({ScheduleKind::gpipe, 8, 1, 3}, 1, 2) == (3 + 7) * 3);
  CHECK(makespan({ScheduleKind::one_f_one_b, 1, 1, 5}, 1, 2) == 15);
}

TEST_CASE("schedule: each micro-batch goes once forward and then once backward on each part") {
  for (const Case& c : all_cases()) {
    for (const auto& passes : all_stages(c)) {
      std::set<std::pair<int, int>> forward, backward;
      for (const Pass& pass : passes) {
        const std::pair key(pass.micro_batch, pass.virtual_stage);
        if (pass.kind == Pass::Kind::forward) {
          CHECK(forward.insert(key).second);
        } else {
          CHECK(forward.contains(key));
          CHECK(backward.insert(key).second);
        }
      }
      CHECK(forward == backward);
      CHECK(static_cast<int>(forward.size()) == c.micro_batches * c.virtual_stages);
      CHECK(forward.rbegin()->first == c.micro_batches - 1);
      CHECK(forward.rbegin()->second == c.virtual_stages - 1);
    }
  }
}

TEST_CASE("schedule: activations in flight") {
  for (const Case& c : all_cases()) {
    const int p = c.stages, m = c.micro_batches, v = c.virtual_stages;
    for (int stage = 0; stage < p; ++stage) {
      const int held = activations_in_flight_max(all_stages(c)[static_cast<std::size_t>(stage)]);
      if (c.kind == ScheduleKind::gpipe) {
        CHECK(held == m);
      } else if (c.kind == ScheduleKind::one_f_one_b) {
        CHECK(held == std::min(m, p - stage));
      } else if (stage == 0 && m > p) {
        // p v (1 + (p - 1) / (p v)) virtual stages.
        CHECK(held == p * v + p - 1);
      } else {
        CHECK(held == std::min(m * v, 2 * (p - stage - 1) + (v - 1) * p + 1));
      }
    }
  }
}

TEST_CASE("schedule: interleaved order of 2 stages, 2 virtual stages, 4 micro-batches") {
  // Stage 0, F/B micro-batch.virtual stage; warm-up 2 x 1 + 1 x 2 = 4.
  // F0.0 F1.0 F0.1 F1.1 | F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 | B2.1 B3.1 B2.0 B3.0
  const auto passes = schedule(ScheduleKind::interleaved, 2, 2, 4, 0);
  std::string text;
  for (const Pass& pass : passes) {
    text += pass.kind == Pass::Kind::forward ? "F" : "B";
    text += std::to_string(pass.micro_batch) + "." + std::to_string(pass.virtual_stage) + " ";
  }
  CHECK(text == "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0 ");
}
