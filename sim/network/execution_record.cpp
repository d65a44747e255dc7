// What a run keeps: times by kind, loads, and its whole state for a finer run.
#include <algorithm>

#include "sim/network/execution.h"
#include "sim/network/repetition.h"

namespace sim::network {

void Execution::account_gap(std::int32_t stream) {
  State& s = state(stream);
  const Picoseconds gap_start = s.previous_end;
  if (!keeps_ || gap_start == now_) return;
  auto& times = outcome_.times[static_cast<std::size_t>(stream)];
  invariant(s.met_slot >= 0, "a stream paused without waiting");
  const Slot& slot = system_.slot_of(stream, s.met_slot);
  const Picoseconds border = std::clamp(s.met_started_at, gap_start, now_);
  times[slot.kind_late] += border - gap_start;
  times[slot.kind_in_progress] += now_ - border;
}

void Execution::account(std::int32_t stream, const Step& step) {
  State& s = state(stream);
  auto& times = outcome_.times[static_cast<std::size_t>(stream)];
  const Picoseconds took = now_ - s.started_at;
  if (step.part_count == 0) {
    times[step.kind] += took;
    return;
  }
  // A merged operation that was slowed down: its parts in proportion, the remainder to its own
  // kind.
  const Program& p = program(stream);
  const Picoseconds alone = step.lag + step.work;
  Picoseconds given = 0;
  for (std::int32_t i = step.first_part; i < step.first_part + step.part_count; ++i) {
    const Part& part = p.parts[static_cast<std::size_t>(i)];
    const Picoseconds share =
        alone == took ? part.work : static_cast<Picoseconds>(Int128{part.work} * took / alone);
    times[part.kind] += share;
    given += share;
  }
  times[step.kind] += took - given;
}

void Execution::observe() {
  is_unobserved_ = false;
  observed_load_.resize(system_.observed.size(), -1);
  for (std::size_t i = 0; i < system_.observed.size(); ++i) {
    const Int128 load = sharing_.load(system_.observed[i]);
    if (load == observed_load_[i] || now_ < unobserved_until_[i]) continue;
    observed_load_[i] = load;
    outcome_.loads.push_back({static_cast<std::int32_t>(i), now_, load});
  }
}

void Execution::adopt(const Execution& coarse, std::span<const std::int32_t> parent) {
  now_ = coarse.now_;
  iteration_start_ = coarse.iteration_start_;
  keeps_ = coarse.keeps_;
  fingerprint_ = coarse.fingerprint_;
  events_ = coarse.events_;
  outcome_.loads = coarse.outcome_.loads;
  observed_load_ = coarse.observed_load_;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::size_t p = static_cast<std::size_t>(parent[i]);
    streams_[i] = coarse.streams_[p];
    invariant(!streams_[i].is_parked, "a jump does not reach a change of capacity");
    streams_[i].waiter = -1;
    outcome_.times[i] = coarse.outcome_.times[p];
    outcome_.last_ends[i] = coarse.outcome_.last_ends[p];
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::int32_t stream = static_cast<std::int32_t>(i), from = parent[i];
    State& s = streams_[i];
    if (static_cast<std::size_t>(s.position) == program(stream).steps.size()) continue;
    ++unfinished_;
    s.unmet = count_waits(stream);
    invariant(s.is_running == (s.unmet == 0), "streams of one class wait for different things");
    if (!s.is_running) continue;
    if (coarse.sharing_.in_progress(from)) {
      flow(stream, step_of(stream), coarse.sharing_.remaining(from, now_));
    } else {
      heap_.set(stream, coarse.heap_.at(from));
    }
  }
  if (repetition_) repetition_->begin_iteration();
}

void Execution::take(Outcome& outcome) {
  outcome.times = std::move(outcome_.times);
  outcome.last_ends = std::move(outcome_.last_ends);
  // What was jumped over was recorded before its time.
  std::stable_sort(outcome_.records.begin(), outcome_.records.end(),
                   [](const Record& a, const Record& b) { return a.ended_at < b.ended_at; });
  std::stable_sort(outcome_.loads.begin(), outcome_.loads.end(),
                   [](const LoadRecord& a, const LoadRecord& b) {
                     return a.at != b.at ? a.at < b.at : a.observed < b.observed;
                   });
  outcome.records = std::move(outcome_.records);
  outcome.loads = std::move(outcome_.loads);
}

std::vector<std::int64_t> Execution::capacity() const {
  std::vector<std::int64_t> result(system_.capacity.size());
  for (std::size_t r = 0; r < result.size(); ++r) {
    result[r] = sharing_.capacity(static_cast<std::int32_t>(r));
  }
  return result;
}

std::vector<std::int32_t> Execution::positions() const {
  std::vector<std::int32_t> result;
  for (const State& s : streams_) result.push_back(s.position);
  return result;
}

}  // namespace sim::network
