// How often a part can be repeated, and the jump.
#include <algorithm>

#include "sim/network/repetition.h"

namespace sim::network {

// Whether a step waits as the one `advance` steps before it did: for steps of others that are as
// far ahead, or for what all had reached before.
bool Repetition::waits_alike(std::int32_t stream, std::int32_t step, std::int32_t advance,
                             const Snapshot& before, const Snapshot& now) {
  const Program& p = run_.program(stream);
  const Step& later = p.steps[static_cast<std::size_t>(step)];
  const Step& earlier = p.steps[static_cast<std::size_t>(step - advance)];
  for (std::int32_t w = 0; w < later.wait_count; ++w) {
    const Wait& a = p.waits[static_cast<std::size_t>(earlier.first_wait + w)];
    const Wait& b = p.waits[static_cast<std::size_t>(later.first_wait + w)];
    const Slot& slot = run_.system_.slot_of(stream, b.slot);
    for (const auto& [target, footprint] : run_.system_.members_of(slot)) {
      const auto& milestones = run_.program(target).milestones;
      const std::int32_t needed_a = milestones[static_cast<std::size_t>(a.milestone)];
      const std::int32_t needed_b = milestones[static_cast<std::size_t>(b.milestone)];
      std::int32_t reached = run_.state(target).position, moved = 0;
      if (part_of_[static_cast<std::size_t>(target)] ==
          part_of_[static_cast<std::size_t>(stream)]) {
        const auto i = static_cast<std::size_t>(index_of_[static_cast<std::size_t>(target)]);
        reached = before.states[i].position;
        moved = now.states[i].position - reached;
      }
      const bool is_shifted = needed_b == needed_a + moved && moved > 0;
      if (!is_shifted && std::max(needed_a, needed_b) > reached) return false;
    }
  }
  return true;
}

// How many periods the stream's program goes on as in the last one.
std::int64_t Repetition::repeats_of(std::size_t index, const Part& part, const Snapshot& before,
                                    const Snapshot& now) {
  const std::int32_t stream = part.streams[index];
  const std::int32_t from = before.states[index].position, to = now.states[index].position;
  const std::int32_t advance = to - from;
  if (advance == 0) return INT64_MAX;
  const auto steps = static_cast<std::int32_t>(run_.program(stream).steps.size());
  std::int32_t step = to;
  while (step < steps && content(stream, step) == content(stream, step - advance) &&
         waits_alike(stream, step, advance, before, now)) {
    ++step;
  }
  // The step it is then at must be one that was compared.
  return (step - 1 - to) / advance;
}

// Whether the stream is one of the part's and has gone on since.
bool Repetition::has_moved(std::int32_t stream, const Part& part, const Snapshot& before) const {
  const auto s = static_cast<std::size_t>(stream);
  if (part_of_[s] != part_of_[static_cast<std::size_t>(part.pacer)]) return false;
  const State& earlier = before.states[static_cast<std::size_t>(index_of_[s])];
  return run_.streams_[s].position != earlier.position;
}

// Whether a stream that stands still goes on doing so for as long as the part repeats: it has
// ended, waits for a stream of the part that moves, or for one that stands still for that reason.
bool Repetition::is_held(std::int32_t stream, const Part& part, const Snapshot& before,
                         bool is_direct) const {
  if (has_ended(stream)) return true;
  if (run_.state(stream).is_running) return false;
  return any_target(run_.system_, stream, run_.step_of(stream), [&](const Target& t) {
    if (run_.state(t.stream).position >= t.needed) return false;
    return has_moved(t.stream, part, before) ||
           (!is_direct && is_held(t.stream, part, before, true));
  });
}

// Whether a stream outside may begin to reserve what the part uses when others than the part go on.
bool Repetition::may_be_reserved(std::int32_t stream, const Part& part) const {
  if (has_ended(stream)) return false;
  const std::int32_t own = part_of_[static_cast<std::size_t>(part.pacer)];
  const auto is_own = [&](std::int32_t s) {
    return s >= 0 && part_of_[static_cast<std::size_t>(s)] == own;
  };
  const System& system = run_.system_;
  return any_target(system, stream, run_.step_of(stream), [&](const Target& t) {
    const Wait& wait = run_.program(stream).waits[static_cast<std::size_t>(t.wait)];
    const std::int32_t footprint = system.members[static_cast<std::size_t>(t.member)].footprint;
    const bool is_met = run_.state(t.stream).position >= t.needed;
    if (!wait.reserves || is_met || footprint < 0 || is_own(t.stream)) return false;
    const auto reserved = system.coefficients_of(footprint);
    return std::any_of(reserved.begin(), reserved.end(), [&](const Coefficient& c) {
      return is_own(user_[static_cast<std::size_t>(c.resource)]);
    });
  });
}

// How many periods until the part would wake a stream that stands still.
std::int64_t Repetition::repeats_before(const Part& part, const Snapshot& before,
                                        const Snapshot& now) {
  std::int64_t most = INT64_MAX;
  for (std::size_t i = 0; i < part.streams.size(); ++i) {
    const State& s = run_.state(part.streams[i]);
    const std::int32_t advance = now.states[i].position - before.states[i].position;
    for (std::int32_t w = s.waiter; w >= 0;) {
      const Execution::Waiter& waiter = run_.waiters_[static_cast<std::size_t>(w)];
      w = waiter.next;
      if (advance == 0 || has_moved(waiter.stream, part, before)) continue;
      most = std::min<std::int64_t>(most, (waiter.target - 1 - s.position) / advance);
    }
  }
  for (const std::int32_t stream : part.outside) {
    if (!is_held(stream, part, before) || may_be_reserved(stream, part)) return 0;
  }
  for (const std::int32_t stream : part.streams) {
    if (!has_moved(stream, part, before) && !is_held(stream, part, before)) return 0;
  }
  return most;
}

std::int64_t Repetition::repeats(const Part& part, const Snapshot& before, const Snapshot& now,
                                 Picoseconds limit) {
  std::int64_t times = repeats_before(part, before, now);
  if (limit != Execution::never) {
    times = std::min(times, (limit - 1 - now.at) / (now.at - before.at));
  }
  for (std::size_t i = 0; i < part.streams.size() && times > 0; ++i) {
    times = std::min(times, repeats_of(i, part, before, now));
  }
  return times == INT64_MAX ? 0 : times;
}

// What ended in the last period ended in each that is jumped over.
void Repetition::copy_events(const Part& part, const Snapshot& before, const Snapshot& now,
                             std::int64_t times) {
  const Picoseconds period = now.at - before.at;
  Outcome& outcome = run_.outcome_;
  for (std::int64_t n = 1; n <= times; ++n) {
    const Picoseconds by = n * period;
    for (std::size_t e = before.events; e < now.events; ++e) {
      const Event& event = part.log[e];
      const Stream& stream = run_.system_.streams[static_cast<std::size_t>(event.stream)];
      const auto i = static_cast<std::size_t>(index_of_[static_cast<std::size_t>(event.stream)]);
      const std::int32_t advance = now.states[i].position - before.states[i].position;
      const auto step = static_cast<std::int32_t>(event.step + n * advance);
      run_.add_to_fingerprint(stream, step, event.ended_at + by);
      if (run_.keeps_ && stream.is_recorded) {
        outcome.records.push_back({event.stream, step, event.started_at + by, event.ended_at + by});
      }
    }
  }
  if (!run_.keeps_) return;
  const std::size_t loads = outcome.loads.size();
  for (std::size_t l = 0; l < loads; ++l) {
    const LoadRecord load = outcome.loads[l];
    if (load.at <= before.at || load.at > now.at) continue;
    if (std::find(part.observed.begin(), part.observed.end(), load.observed) ==
        part.observed.end()) {
      continue;
    }
    for (std::int64_t n = 1; n <= times; ++n) {
      outcome.loads.push_back({load.observed, load.at + n * period, load.load});
    }
  }
}

// Those who wait inside the part now wait for later steps.
void Repetition::move_waiters(const Part& part, const Snapshot& before) {
  for (const std::int32_t stream : part.streams) {
    std::int32_t* link = &run_.state(stream).waiter;
    while (*link >= 0) {
      const std::int32_t entry = *link;
      Execution::Waiter& waiter = run_.waiters_[static_cast<std::size_t>(entry)];
      if (!has_moved(waiter.stream, part, before)) {
        link = &waiter.next;
        continue;
      }
      *link = waiter.next;
      waiter.next = run_.free_waiter_;
      run_.free_waiter_ = entry;
    }
  }
  for (const std::int32_t stream : part.streams) {
    if (run_.state(stream).unmet > 0 && has_moved(stream, part, before)) run_.wait_again(stream);
  }
}

void Repetition::jump(Part& part, const Snapshot& before, const Snapshot& now, std::int64_t times) {
  copy_events(part, before, now, times);
  const Picoseconds by = times * (now.at - before.at);
  for (std::size_t i = 0; i < part.streams.size(); ++i) {
    const std::int32_t stream = part.streams[i];
    State& s = run_.state(stream);
    const std::int32_t advance = s.position - before.states[i].position;
    if (advance == 0) continue;
    s.position += static_cast<std::int32_t>(times * advance);
    for (Picoseconds* at :
         {&s.previous_end, &s.started_at, &s.ended_started_at, &s.met_at, &s.met_started_at}) {
      *at += by;
    }
    const auto index = static_cast<std::size_t>(stream);
    if (run_.keeps_) run_.outcome_.last_ends[index] += by;
    for (std::size_t k = 0; k < kind_max; ++k) {
      run_.outcome_.times[index][k] += times * (now.times[i][k] - before.times[i][k]);
    }
    if (!s.is_running) continue;
    if (run_.sharing_.in_progress(stream)) {
      run_.park(stream, now.at + by);
    } else {
      run_.heap_.set(stream, run_.heap_.at(stream) + by);
    }
  }
  move_waiters(part, before);
  for (const std::int32_t o : part.observed) {
    run_.unobserved_until_[static_cast<std::size_t>(o)] = now.at + by;
  }
}

}  // namespace sim::network
