// From a plan to the passes of every stage: kinds, neighbours, rounds.
#include "sim/plan/schedule.h"

#include <algorithm>
#include <utility>

#include "sim/base/invariant.h"
#include "sim/plan/orders.h"

namespace sim::plan {

using Kind = Pass::Kind;

int Schedule::part(int stage, int virtual_stage) const {
  const bool is_back = arrangement != Arrangement::loop && virtual_stage % 2 == 1;
  const int along = is_back ? stages - 1 - stage : stage;
  return arrangement == Arrangement::both_ways ? along : virtual_stage * stages + along;
}

int Schedule::stage_of(int part, int virtual_stage) const {
  const int along = part % stages;
  const int turn = arrangement == Arrangement::both_ways ? virtual_stage : part / stages;
  const bool is_back = arrangement != Arrangement::loop && turn % 2 == 1;
  return is_back ? stages - 1 - along : along;
}

namespace {

int virtual_stage_of(const Schedule& s, int part, int virtual_stage) {
  return s.arrangement == Arrangement::both_ways ? virtual_stage : part / s.stages;
}

}  // namespace

Schedule::Neighbour Schedule::target(int stage, const Pass& pass) const {
  const bool is_forward = pass.kind == Kind::forward;
  if (!is_forward && !pass.is_backward()) return Neighbour::none;
  const int next = part(stage, pass.virtual_stage) + (is_forward ? 1 : -1);
  if (next < 0 || next >= parts()) return Neighbour::none;
  if (stage_of(next, pass.virtual_stage) == stage) return Neighbour::same;
  const bool is_back = arrangement != Arrangement::loop && pass.virtual_stage % 2 == 1;
  return is_forward != is_back ? Neighbour::next : Neighbour::previous;
}

Schedule::Source Schedule::source(int stage, const Pass& pass) const {
  const bool is_forward = pass.kind == Kind::forward;
  if (!is_forward && !pass.is_backward()) return {};
  const int before = part(stage, pass.virtual_stage) + (is_forward ? -1 : 1);
  if (before < 0 || before >= parts()) return {};
  Source source;
  source.stage = stage_of(before, pass.virtual_stage);
  source.virtual_stage = virtual_stage_of(*this, before, pass.virtual_stage);
  if (source.stage == stage) {
    source.from = Neighbour::same;
    return source;
  }
  const Pass sender{pass.kind, pass.micro_batch, source.virtual_stage};
  source.from =
      target(source.stage, sender) == Neighbour::next ? Neighbour::previous : Neighbour::next;
  return source;
}

const std::vector<ScheduleTraits>& all_schedules() {
  using K = ScheduleKind;
  static const std::vector<ScheduleTraits> all = {
      {K::gpipe, "gpipe", false, true, 1},
      {K::one_f_one_b, "1f1b", false, true, 1},
      {K::interleaved, "interleaved-1f1b", false, true, 0},
      {K::zb_h1, "zb-h1", true, true, 1},
      {K::zb_h2, "zb-h2", true, false, 1},
      {K::zb_v, "zb-v", true, false, 2},
      {K::zb_1p, "zb-1p", true, false, 1},
      {K::zb_2p, "zb-2p", true, false, 1},
      {K::dual_pipe, "dual-pipe", true, true, 2},
      {K::dual_pipe_v, "dual-pipe-v", true, true, 2},
      {K::double_buffered, "pipedream-2bw", false, false, 1},
      {K::wave_synchronous, "wave-synchronous", false, false, 1},
      {K::table, "table", false, true, 0},
  };
  return all;
}

const ScheduleTraits& traits(ScheduleKind kind) {
  return all_schedules()[static_cast<std::size_t>(kind)];
}

namespace {

// All passes of one round, without updates.
std::vector<std::vector<Pass>> one_round(const Plan& plan, const Schedule& s,
                                         const PassTimes& times) {
  if (plan.schedule == ScheduleKind::zb_1p) return planned(s, s.stages, times);
  if (plan.schedule == ScheduleKind::zb_2p) return planned(s, 2 * s.stages, times);
  std::vector<std::vector<Pass>> passes;
  if (plan.schedule == ScheduleKind::table) {
    const ScheduleTable& table = plan.table;
    for (std::size_t stage = 0; stage < table.warm_up.size(); ++stage) {
      const auto delay = table.weight_delay.empty() ? std::optional<int>()
                                                    : std::optional(table.weight_delay[stage]);
      passes.push_back(one_forward_one_backward(table.warm_up[stage], s.micro_batches, delay));
    }
    return passes.empty() ? table.passes : passes;
  }
  for (int stage = 0; stage < s.stages; ++stage) {
    passes.push_back(order(plan.schedule, s, stage));
  }
  return passes;
}

// Rounds one after the other, each with its update at the end.
std::vector<Pass> repeated(const std::vector<Pass>& round, const Schedule& s) {
  std::vector<Pass> result;
  for (int r = 0; r < s.rounds; ++r) {
    for (Pass pass : round) {
      pass.micro_batch += r * s.micro_batches;
      result.push_back(pass);
    }
    result.push_back({Kind::update, r, 0});
  }
  return result;
}

// 1F1B over all rounds. The update of a round comes before the first forward pass of the one that
// must see it, `late` rounds after the next; what is left comes at the end.
std::vector<Pass> without_end(const Schedule& s, int stage, int late) {
  Schedule whole = s;
  whole.micro_batches = s.micro_batches * s.rounds;
  std::vector<Pass> result;
  int updated = 0;
  for (const Pass& pass : order(ScheduleKind::one_f_one_b, whole, stage)) {
    const int round = pass.micro_batch / s.micro_batches;
    const bool is_first = pass.kind == Kind::forward && pass.micro_batch % s.micro_batches == 0;
    if (is_first && round >= 2 + late) {
      result.push_back({Kind::update, updated++, 0});
    }
    result.push_back(pass);
  }
  while (updated < s.rounds) result.push_back({Kind::update, updated++, 0});
  return result;
}

}  // namespace

bool flushes(const Plan& plan) {
  return plan.flush.value_or(traits(plan.schedule).flushes) && staleness(plan) == 0;
}

bool splits_backward(const Plan& plan) {
  const auto is_split = [](const Pass& pass) { return pass.kind == Kind::backward_weight; };
  const auto& rows = plan.table.passes;
  return traits(plan.schedule).splits_backward || !plan.table.weight_delay.empty() ||
         std::any_of(rows.begin(), rows.end(), [&](const std::vector<Pass>& row) {
           return std::any_of(row.begin(), row.end(), is_split);
         });
}

int staleness(const Plan& plan) {
  if (plan.schedule == ScheduleKind::double_buffered) return 1;
  return plan.schedule == ScheduleKind::wave_synchronous ? 1 + plan.staleness : 0;
}

Schedule schedule(const Plan& plan, int rounds, const PassTimes& times) {
  Schedule s;
  s.stages = plan.stages;
  s.virtual_stages = plan.virtual_stages;
  s.micro_batches = plan.micro_batches();
  s.rounds = rounds;
  s.splits_backward = splits_backward(plan);
  s.flushes = flushes(plan);
  s.staleness = staleness(plan);
  s.weight_versions = 1 + s.staleness;
  if (plan.schedule == ScheduleKind::zb_v || plan.schedule == ScheduleKind::dual_pipe_v) {
    s.arrangement = Arrangement::zigzag;
  } else if (plan.schedule == ScheduleKind::dual_pipe) {
    s.arrangement = Arrangement::both_ways;
  } else if (plan.schedule == ScheduleKind::table) {
    s.arrangement = plan.table.arrangement;
  }
  if (s.staleness > 0) {
    for (int stage = 0; stage < s.stages; ++stage) {
      s.passes.push_back(without_end(s, stage, s.staleness - 1));
    }
    return s;
  }
  for (const std::vector<Pass>& round : one_round(plan, s, times)) {
    s.passes.push_back(repeated(round, s));
  }
  return s;
}

int activations_in_flight_max(const std::vector<Pass>& passes) {
  int held = 0, most = 0;
  for (const Pass& pass : passes) {
    if (pass.kind == Kind::forward) ++held;
    if (pass.ends_gradient()) --held;
    most = std::max(most, held);
  }
  return most;
}

}  // namespace sim::plan
