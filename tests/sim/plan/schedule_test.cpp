// Schedules against closed forms, and against a simulation that knows only the dependencies.
#include "sim/plan/schedule.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "sim/plan/orders.h"
#include "tests/approximately.h"

using namespace sim::plan;

namespace {

using Kind = Pass::Kind;

struct Case {
  ScheduleKind kind;
  int stages, virtual_stages, micro_batches;
};

Schedule schedule_of(const Case& c, int rounds = 1) {
  Plan plan;
  plan.schedule = c.kind;
  plan.stages = c.stages, plan.virtual_stages = c.virtual_stages;
  plan.global_batch = c.micro_batches;
  return schedule(plan, rounds);
}

std::vector<Case> all_cases() {
  std::vector<Case> result;
  for (const int p : {2, 3, 4, 8}) {
    for (const int m : {p, 2 * p, 4 * p}) {
      for (const ScheduleTraits& t : all_schedules()) {
        const bool is_long = t.virtual_stages == 2;
        if (t.kind == ScheduleKind::table || (is_long && m < 2 * p)) continue;
        if (t.kind == ScheduleKind::dual_pipe && (p % 2 == 1 || m % 2 == 1)) continue;
        if (t.virtual_stages > 0) {
          result.push_back({t.kind, p, t.virtual_stages, m});
          continue;
        }
        for (const int v : {2, 3, 4}) result.push_back({t.kind, p, v, m});
      }
    }
  }
  return result;
}

// Written without the product's neighbours: where a part is, from the picture of each arrangement.
int stage_of_part(const Schedule& s, int part, int way) {
  if (s.arrangement == Arrangement::both_ways) return way == 0 ? part : s.stages - 1 - part;
  const int turn = part / s.stages, along = part % s.stages;
  return s.arrangement == Arrangement::zigzag && turn % 2 == 1 ? s.stages - 1 - along : along;
}

struct Spans {
  int makespan = 0, longest = 0;  // first start to last end, of any stage
};

// A stage runs its passes in order; one forward pass waits for that of the part before, one
// backward pass for that of the part behind and for its own forward pass. A pair starts when both
// may, and both end at its end. Fails when none can go on.
class Simulation {
 public:
  Simulation(const Schedule& s, int forward, int input, int weight)
      : s_(s), durations_{forward, input + weight, input, weight, 0} {}

  Spans run() {
    std::vector<std::size_t> next(s_.passes.size(), 0);
    std::vector<int> free_at(s_.passes.size(), 0), began(s_.passes.size(), -1);
    for (bool moves = true; moves;) {
      moves = false;
      for (std::size_t stage = 0; stage < s_.passes.size(); ++stage) {
        const auto& passes = s_.passes[stage];
        while (next[stage] < passes.size()) {
          const std::size_t count = passes[next[stage]].with_next ? 2 : 1;
          int start = free_at[stage], took = 0;
          bool can = true;
          for (std::size_t i = next[stage]; i < next[stage] + count; ++i) {
            const int at = ready(static_cast<int>(stage), passes[i]);
            can = can && at >= 0;
            start = std::max(start, at);
            took += durations_[static_cast<int>(passes[i].kind)];
          }
          if (!can) break;
          if (began[stage] < 0) began[stage] = start;
          free_at[stage] = start + took;
          for (std::size_t i = next[stage]; i < next[stage] + count; ++i) {
            const Pass& pass = passes[i];
            if (pass.kind == Kind::update || pass.kind == Kind::backward_weight) continue;
            ended_[{pass.kind == Kind::forward, pass.micro_batch,
                    part_of(static_cast<int>(stage), pass.virtual_stage)}] = free_at[stage];
          }
          next[stage] += count;
          moves = true;
        }
      }
    }
    Spans result;
    for (std::size_t stage = 0; stage < s_.passes.size(); ++stage) {
      REQUIRE(next[stage] == s_.passes[stage].size());  // else a deadlock
      result.makespan = std::max(result.makespan, free_at[stage]);
      result.longest = std::max(result.longest, free_at[stage] - began[stage]);
    }
    return result;
  }

 private:
  int part_of(int stage, int v) const {
    const bool is_both = s_.arrangement == Arrangement::both_ways;
    int part = 0;
    while (stage_of_part(s_, part, v) != stage || (!is_both && part / s_.stages != v)) ++part;
    return part;
  }
  // When it may start; -1: not yet.
  int ready(int stage, const Pass& pass) const {
    const bool is_both = s_.arrangement == Arrangement::both_ways;
    const int parts = is_both ? s_.stages : s_.stages * s_.virtual_stages;
    const int part = part_of(stage, pass.virtual_stage);
    const auto end = [&](bool is_forward, int of) {
      const auto found = ended_.find({is_forward, pass.micro_batch, of});
      return found == ended_.end() ? -1 : found->second;
    };
    switch (pass.kind) {
      case Kind::update:
        return 0;
      case Kind::backward_weight:
        return end(false, part);
      case Kind::forward:
        return part == 0 ? 0 : end(true, part - 1);
      default:
        break;
    }
    const int own = end(true, part);
    if (part == parts - 1 || own < 0) return own;
    const int behind = end(false, part + 1);
    return behind < 0 ? behind : std::max(own, behind);
  }

  const Schedule& s_;
  const int durations_[5];
  std::map<std::tuple<bool, int, int>, int> ended_;  // (is forward, micro-batch, part)
};

Spans simulate(const Schedule& s, int forward, int input, int weight) {
  return Simulation(s, forward, input, weight).run();
}

int held_max(const Schedule& s) {
  int most = 0;
  for (const auto& passes : s.passes) most = std::max(most, activations_in_flight_max(passes));
  return most;
}

std::string text(const std::vector<Pass>& passes) {
  std::string result;
  for (const Pass& pass : passes) {
    result += "FBIWU"[static_cast<int>(pass.kind)];
    result += std::to_string(pass.micro_batch);
    if (pass.virtual_stage > 0) result += "." + std::to_string(pass.virtual_stage);
    result += " ";
  }
  return result;
}

}  // namespace

TEST_CASE("schedule: 1F1B, 4 stages, 8 micro-batches, 1 and 2 ms -> 33 ms; 2 virtual -> 28.5 ms") {
  // 11 x 3 ms. Interleaved passes are half as long: (16 + 3) x 1.5 ms, counted in half
  // milliseconds.
  CHECK(simulate(schedule_of({ScheduleKind::one_f_one_b, 4, 1, 8}), 1, 1, 1).makespan == 33);
  CHECK(simulate(schedule_of({ScheduleKind::interleaved, 4, 2, 8}), 1, 1, 1).makespan == 57);
}

TEST_CASE("schedule: GPipe, 1F1B and interleaved take the closed forms' time") {
  for (const Case& c : all_cases()) {
    const bool is_known = c.kind == ScheduleKind::gpipe || c.kind == ScheduleKind::one_f_one_b ||
                          c.kind == ScheduleKind::interleaved;
    if (!is_known) continue;
    for (const auto& [forward, backward] : {std::pair(1, 2), std::pair(1, 3), std::pair(3, 5)}) {
      // (m + p - 1)(F + B); interleaved (m v + p - 1)(f + b).
      CHECK(simulate(schedule_of(c), forward, 1, backward - 1).makespan ==
            (c.micro_batches * c.virtual_stages + c.stages - 1) * (forward + backward));
    }
  }
}

TEST_CASE("schedule: the bubbles of zero bubble schedules") {
  for (const int p : {2, 3, 4, 8}) {
    for (const int m : {2 * p, 4 * p}) {
      CAPTURE(p);
      CAPTURE(m);
      // Passes of one duration: bubbles of (p - 1)(F + B - 2W) = p - 1, and none.
      const Spans h1 = simulate(schedule_of({ScheduleKind::zb_h1, p, 1, m}), 1, 1, 1);
      CHECK(h1.makespan == 3 * m + p - 1);
      CHECK(simulate(schedule_of({ScheduleKind::zb_h2, p, 1, m}), 1, 1, 1).longest == 3 * m);
      CHECK(simulate(schedule_of({ScheduleKind::zb_v, p, 2, m}), 1, 1, 1).longest == 6 * m);
      CHECK(simulate(schedule_of({ScheduleKind::zb_1p, p, 1, m}), 1, 1, 1).longest == h1.longest);
      CHECK(simulate(schedule_of({ScheduleKind::zb_2p, p, 1, m}), 1, 1, 1).longest == 3 * m);
    }
  }
  // (p - 1)(F + B_in - W) with other durations: 3 x (5 + 4 - 2).
  CHECK(simulate(schedule_of({ScheduleKind::zb_h1, 4, 1, 16}), 5, 4, 2).makespan == 16 * 11 + 21);
}

TEST_CASE("schedule: DualPipe's bubble is (p/2 - 1)(F&B + B - 3W), DualPipeV's (p - 1) of it") {
  // As published for F = B_in; a little less where the input gradient takes longer.
  for (const auto& [f, i, w] : {std::tuple(1, 1, 1), std::tuple(2, 2, 1), std::tuple(5, 5, 3)}) {
    const int both = f + i + w, bubble = both + (i + w) - 3 * w;
    for (const int p : {2, 4, 8}) {
      for (const int m : {2 * p, 4 * p}) {
        CAPTURE(p);
        CAPTURE(m);
        CHECK(simulate(schedule_of({ScheduleKind::dual_pipe, p, 2, m}), f, i, w).makespan ==
              m * both + (p / 2 - 1) * bubble);
        CHECK(simulate(schedule_of({ScheduleKind::dual_pipe_v, p, 2, m}), f, i, w).makespan ==
              2 * m * both + (p - 1) * bubble);
      }
    }
  }
}

TEST_CASE("schedule: activations in flight") {
  for (const Case& c : all_cases()) {
    const int p = c.stages, m = c.micro_batches, v = c.virtual_stages;
    const Schedule s = schedule_of(c);
    CAPTURE(traits(c.kind).name);
    for (int stage = 0; stage < p; ++stage) {
      const int held = activations_in_flight_max(s.passes[static_cast<std::size_t>(stage)]);
      switch (c.kind) {
        case ScheduleKind::gpipe:
          CHECK(held == m);
          break;
        case ScheduleKind::one_f_one_b:
          CHECK(held == std::min(m, p - stage));
          break;
        case ScheduleKind::interleaved:
          // On the first stage p v (1 + (p - 1) / (p v)) virtual stages.
          CHECK(held == std::min(m * v, 2 * (p - stage - 1) + (v - 1) * p + 1));
          break;
        default:
          break;
      }
    }
    const bool is_1p = c.kind == ScheduleKind::zb_h1 || c.kind == ScheduleKind::zb_1p;
    if (is_1p) CHECK(held_max(s) == std::min(m, p));
    if (c.kind == ScheduleKind::zb_h2) CHECK(held_max(s) == std::min(m, 2 * p - 1));
    if (c.kind == ScheduleKind::zb_2p) CHECK(held_max(s) <= 2 * p);
    if (c.kind == ScheduleKind::zb_v) CHECK(held_max(s) == 2 * p);
    if (c.kind == ScheduleKind::dual_pipe) CHECK(held_max(s) == p + 1);
  }
}

TEST_CASE("schedule: none has a fault, and the product's run agrees with the simulation here") {
  for (const Case& c : all_cases()) {
    for (const int rounds : {1, 3}) {
      const Schedule s = schedule_of(c, rounds);
      CAPTURE(traits(c.kind).name);
      const auto wrong = fault(s);
      CAPTURE((wrong ? wrong->message + ": " + wrong->why : ""));
      REQUIRE(!wrong);
      const Spans here = simulate(s, 3, 2, 1);
      const double parts = s.arrangement == Arrangement::both_ways ? 1 : s.virtual_stages;
      double makespan = 0, longest = 0;
      for (const StageSpan& span : spans(s, {3 * parts, 2 * parts, 1 * parts, 0})) {
        makespan = std::max(makespan, span.last);
        longest = std::max(longest, span.last - span.first);
      }
      CHECK(makespan == here.makespan);
      CHECK(longest == here.longest);
    }
  }
}

TEST_CASE("schedule: fewer micro-batches than stages, and one stage, work too") {
  const auto makespan = [](const Case& c) { return simulate(schedule_of(c), 1, 1, 1).makespan; };
  CHECK(makespan({ScheduleKind::one_f_one_b, 8, 1, 3}) == (3 + 7) * 3);
  CHECK(makespan({ScheduleKind::gpipe, 8, 1, 3}) == (3 + 7) * 3);
  CHECK(makespan({ScheduleKind::one_f_one_b, 1, 1, 5}) == 15);
  // (m + p - 1)(F + B_in) and one weight gradient: there are not enough to fill anything.
  CHECK(makespan({ScheduleKind::zb_h1, 8, 1, 3}) == (3 + 7) * 2 + 1);
  CHECK(makespan({ScheduleKind::zb_1p, 1, 1, 5}) == 15);
}

TEST_CASE("schedule: interleaved with a last group that is not full") {
  for (int p = 2; p <= 6; ++p) {
    for (int v = 2; v <= 4; ++v) {
      for (int m = 1; m <= 3 * p + 1; ++m) {
        CAPTURE(p);
        CAPTURE(v);
        CAPTURE(m);
        const Schedule s = schedule_of({ScheduleKind::interleaved, p, v, m});
        REQUIRE(!fault(s));
        const int time = simulate(s, 1, 1, 1).makespan;
        // Not less than without gaps, not more than with the last group filled up.
        CHECK(time >= (m * v + p - 1) * 3);
        CHECK(time <= ((m + p - 1) / p * p * v + p - 1) * 3);
      }
    }
  }
}

TEST_CASE("schedule: interleaved order of 2 stages, 2 virtual stages, 4 micro-batches") {
  // Stage 0; warm-up 2 x 1 + 1 x 2 = 4.
  CHECK(text(schedule_of({ScheduleKind::interleaved, 2, 2, 4}).passes[0]) ==
        "F0 F1 F0.1 F1.1 F2 B0.1 F3 B1.1 F2.1 B0 F3.1 B1 B2.1 B3.1 B2 B3 U0 ");
}

TEST_CASE("schedule: 1F1B that goes on updates when the next but one round begins") {
  // 2 stages, 3 micro-batches a round, weights of the round before the last.
  const Schedule s = schedule_of({ScheduleKind::double_buffered, 2, 1, 3}, 3);
  CHECK(text(s.passes[0]) == "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 U0 F6 B5 F7 B6 F8 B7 B8 U1 U2 ");
  CHECK(s.weight_versions == 2);
  CHECK(s.staleness == 1);
  // Each further round takes what the passes take: nothing is flushed.
  for (int rounds = 2; rounds < 5; ++rounds) {
    const auto time = [&](int r) {
      return simulate(schedule_of({ScheduleKind::double_buffered, 4, 1, 8}, r), 1, 1, 1).makespan;
    };
    CHECK(time(rounds + 1) - time(rounds) == 8 * 3);
  }
}

TEST_CASE("schedule: what is wrong with a table is told with its place") {
  Schedule s;
  s.stages = 2, s.micro_batches = 1;
  const auto said = [&](std::vector<std::vector<Pass>> passes) {
    s.passes = std::move(passes);
    const auto wrong = fault(s);
    if (!wrong) return std::string("nothing");
    return std::to_string(wrong->stage) + "," + std::to_string(wrong->index) + " " +
           wrong->message + ": " + wrong->why;
  };
  const Pass f{Kind::forward, 0, 0}, b{Kind::backward, 0, 0}, i{Kind::backward_input, 0, 0},
      w{Kind::backward_weight, 0, 0};
  CHECK(said({{f, b}, {f, b}}) == "nothing");
  CHECK(said({{f, i, w}, {f, b}}) == "nothing");
  CHECK(said({{f, b}, {b, f}}) ==
        "1,0 backward 0.0 of stage 1 is wrong: its forward pass has not run");
  CHECK(said({{f, f, b}, {f, b}}) == "0,1 forward 0.0 of stage 0 is wrong: it has run before");
  CHECK(said({{f, w, i}, {f, b}}) ==
        "0,1 weight gradient 0.0 of stage 0 is wrong: its input gradient has not run");
  CHECK(said({{f}, {f, b}}) ==
        "0,-1 stage 0 has no backward pass of 0.0: its activations would be held for ever");
  CHECK(said({{f, i}, {f, b}}) ==
        "0,-1 stage 0 has no weight gradient of 0.0: its activations would be held for ever");
  CHECK(said({{}, {f, b}}) ==
        "0,-1 stage 0 runs 0 forward passes, not 1: every micro-batch passes every part of the "
        "dnn");
  s.micro_batches = 2;
  const Pass f1{Kind::forward, 1, 0}, b1{Kind::backward, 1, 0};
  // Stage 1 wants micro-batch 1 first, stage 0 holds it back until 0 has come back.
  CHECK(said({{f, b, f1, b1}, {f1, f, b, b1}}) ==
        "0,1 the schedule stops at backward 0.0 of stage 0: it waits for backward 0.0 on stage 1, "
        "which never runs in this order");
}
