// Waits, steps and instants.
#include "sim/network/execution.h"

#include <algorithm>
#include <utility>

#include "sim/network/repetition.h"

namespace sim::network {

Execution::Execution(const System& system, Picoseconds now, bool skips)
    : system_(system),
      streams_(system.streams.size()),
      heap_(system.streams.size()),
      sharing_(system.capacity, system.streams.size(), system.observed),
      now_(now),
      iteration_start_(now) {
  for (const Program& p : system.programs) program_hash_.push_back(program_hash(p));
  outcome_.times.assign(streams_.size(), {});
  outcome_.last_ends.assign(streams_.size(), now);
  unobserved_until_.assign(system.observed.size(), 0);
  if (skips) repetition_ = std::make_unique<Repetition>(*this);
}

Execution::~Execution() = default;

void Execution::begin_iteration(bool is_kept) {
  keeps_ = is_kept;
  unfinished_ = 0;
  is_unobserved_ = true;
  iteration_start_ = now_;
  fingerprint_ = {};
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    const std::int32_t stream = static_cast<std::int32_t>(s);
    streams_[s].position = 0;
    streams_[s].previous_end = now_;
    outcome_.last_ends[s] = now_;
    if (program(stream).steps.empty()) continue;
    ++unfinished_;
    ready_.push_back(stream);
  }
  settle();
  if (repetition_) repetition_->begin_iteration();
}

void Execution::set_capacity(std::int32_t resource, std::int64_t capacity) {
  sharing_.set_capacity(resource, capacity);
  if (repetition_) repetition_->forget();
}

// At its next step: counts what the stream must wait for.
void Execution::arrive(std::int32_t stream) {
  State& s = state(stream);
  s.met_slot = -1;
  s.met_at = now_;
  s.unmet = count_waits(stream);
  if (s.unmet == 0) begin(stream);
}

// Returns how many members have not come far enough, and leaves word with them; reserves for those
// that have.
int Execution::count_waits(std::int32_t stream) {
  const Program& p = program(stream);
  const Step& step = step_of(stream);
  int unmet = 0;
  any_target(system_, stream, step, [&](const Target& t) {
    if (state(t.stream).position < t.needed) {
      ++unmet;
      add_waiter(stream, t);
    } else if (p.waits[static_cast<std::size_t>(t.wait)].reserves) {
      reserve(step, t.member, 1);
    }
    return false;
  });
  return unmet;
}

void Execution::add_waiter(std::int32_t stream, const Target& target) {
  std::int32_t entry = free_waiter_;
  if (entry < 0) {
    entry = static_cast<std::int32_t>(waiters_.size());
    waiters_.push_back({});
  } else {
    free_waiter_ = waiters_[static_cast<std::size_t>(entry)].next;
  }
  State& s = state(target.stream);
  waiters_[static_cast<std::size_t>(entry)] = {stream, target.wait, target.member, target.needed,
                                               s.waiter};
  s.waiter = entry;
}

void Execution::reserve(const Step& step, std::int32_t member, int sign) {
  const std::int32_t footprint = system_.members[static_cast<std::size_t>(member)].footprint;
  if (footprint < 0) return;
  for (const Coefficient& c : system_.coefficients_of(footprint)) {
    sharing_.reserve(c.resource, sign * amount_through(c, step.reserve));
  }
}

// One of the streams waited for has come far enough.
void Execution::meet(const Waiter& waiter, std::int32_t target) {
  State& s = state(waiter.stream);
  const Wait& wait = program(waiter.stream).waits[static_cast<std::size_t>(waiter.wait)];
  const Picoseconds started = state(target).ended_started_at;
  // Of several met at this instant, the one that started last, then the lowest slot, is blamed.
  if (s.met_slot < 0 || s.met_at < now_ || started > s.met_started_at ||
      (started == s.met_started_at && wait.slot < s.met_slot)) {
    s.met_at = now_;
    s.met_slot = wait.slot;
    s.met_started_at = started;
  }
  if (wait.reserves) reserve(step_of(waiter.stream), waiter.member, 1);
  if (--s.unmet == 0) begin(waiter.stream);
}

void Execution::begin(std::int32_t stream) {
  State& s = state(stream);
  const Step& step = step_of(stream);
  const bool is_accounted = system_.streams[static_cast<std::size_t>(stream)].is_accounted;
  if (is_accounted && program(stream).is_accounted(s.position)) account_gap(stream);
  s.started_at = now_;
  s.is_running = true;
  s.is_flowing = false;
  if (step.use_count == 0 || step.work == 0) {
    s.is_flowing = true;
    heap_.set(stream, now_ + step.lag + step.work);
  } else if (step.lag > 0) {
    heap_.set(stream, now_ + step.lag);
  } else {
    flow(stream, step, Int128{step.work} << rate_bits);
  }
}

void Execution::flow(std::int32_t stream, const Step& step, Int128 work) {
  const Program& p = program(stream);
  const Stream& description = system_.streams[static_cast<std::size_t>(stream)];
  uses_.clear();
  for (std::int32_t u = step.first_use; u < step.first_use + step.use_count; ++u) {
    const StepUse& use = p.uses[static_cast<std::size_t>(u)];
    for (const Coefficient& c :
         system_.coefficients_of(description.first_footprint + use.footprint)) {
      uses_.push_back({c.resource, amount_through(c, use.amount)});
    }
  }
  state(stream).is_flowing = true;
  heap_.remove(stream);
  sharing_.start(stream, work, step.weight, uses_, now_);
}

void Execution::wake(std::int32_t stream) {
  State& s = state(stream);
  std::int32_t* link = &s.waiter;
  // Collected first: meeting may start streams that add waiters here.
  std::int32_t met = -1;
  while (*link >= 0) {
    Waiter& waiter = waiters_[static_cast<std::size_t>(*link)];
    if (waiter.target > s.position) {
      link = &waiter.next;
      continue;
    }
    const std::int32_t entry = *link;
    *link = waiter.next;
    waiter.next = met;
    met = entry;
  }
  while (met >= 0) {
    const Waiter waiter = waiters_[static_cast<std::size_t>(met)];
    waiters_[static_cast<std::size_t>(met)].next = free_waiter_;
    free_waiter_ = met;
    met = waiter.next;
    meet(waiter, stream);
  }
}

void Execution::add_to_fingerprint(const Stream& stream, std::int32_t step, Picoseconds at) {
  fingerprint_.add(program_hash_[static_cast<std::size_t>(stream.program)],
                   static_cast<std::uint64_t>(step), at - iteration_start_,
                   static_cast<std::uint64_t>(stream.size));
}

void Execution::park(std::int32_t stream, Picoseconds at) {
  parked_[stream] = sharing_.remaining(stream, now_);
  sharing_.stop(stream);
  state(stream).is_parked = true;
  heap_.set(stream, at);
}

// Leaves word again with those it waits for; what it reserves stays.
void Execution::wait_again(std::int32_t stream) {
  any_target(system_, stream, step_of(stream), [&](const Target& t) {
    if (state(t.stream).position < t.needed) add_waiter(stream, t);
    return false;
  });
}

void Execution::end(std::int32_t stream) {
  State& s = state(stream);
  const Program& p = program(stream);
  const Step& step = p.steps[static_cast<std::size_t>(s.position)];
  const Stream& description = system_.streams[static_cast<std::size_t>(stream)];
  if (step.reserve > 0) {
    for (std::int32_t w = step.first_wait; w < step.first_wait + step.wait_count; ++w) {
      const Wait& wait = p.waits[static_cast<std::size_t>(w)];
      if (!wait.reserves) continue;
      const Slot& slot = system_.slot_of(stream, wait.slot);
      for (std::int32_t m = slot.first; m < slot.first + slot.count; ++m) reserve(step, m, -1);
    }
  }
  if (keeps_) {
    if (description.is_accounted && p.is_accounted(s.position)) account(stream, step);
    if (description.is_recorded) {
      outcome_.records.push_back({stream, s.position, s.started_at, now_});
    }
    outcome_.last_ends[static_cast<std::size_t>(stream)] = now_;
  }
  add_to_fingerprint(description, s.position, now_);
  ++events_;
  s.is_running = s.is_flowing = false;
  s.ended_started_at = s.started_at;
  s.previous_end = now_;
  ++s.position;
  if (repetition_) repetition_->ended(stream, s.position - 1, s.started_at);
  if (static_cast<std::size_t>(s.position) < p.steps.size()) {
    ready_.push_back(stream);
  } else {
    --unfinished_;
  }
  wake(stream);
}

// Everything that is due now: ends of lags and of operations, then whatever they allow to start.
void Execution::handle_instant() {
  due_.clear();
  sharing_.take_due(now_, due_);
  while (!due_.empty() || (!heap_.empty() && heap_.earliest() <= now_)) {
    while (!heap_.empty() && heap_.earliest() <= now_) {
      due_.push_back(heap_.top());
      heap_.remove(heap_.top());
    }
    // In the order of the streams, so that records of one instant have an order.
    std::sort(due_.begin(), due_.end());
    for (const std::int32_t stream : due_) {
      if (state(stream).is_parked) {
        state(stream).is_parked = false;
        flow(stream, step_of(stream), parked_.at(stream));
      } else if (state(stream).is_flowing) {
        end(stream);
      } else {
        flow(stream, step_of(stream), Int128{step_of(stream).work} << rate_bits);
      }
    }
    due_.clear();
    settle();
  }
}

// Streams that came to their next step at this instant.
void Execution::settle() {
  while (!ready_.empty()) {
    const std::int32_t stream = ready_.back();
    ready_.pop_back();
    arrive(stream);
  }
}

void Execution::resolve() {
  const bool has_changed = sharing_.resolve(now_);
  if (keeps_ && (has_changed || is_unobserved_)) observe();
}

Execution::Pause Execution::advance(Picoseconds limit) {
  for (;;) {
    resolve();
    if (unfinished_ == 0) return Pause::iteration_ended;
    if (repetition_) {
      if (repetition_->look(limit)) resolve();  // what jumped no longer flows
    }
    const Picoseconds next =
        std::min(sharing_.earliest(), heap_.empty() ? never : heap_.earliest());
    if (next == never && limit == never) return Pause::stuck;
    now_ = std::max(now_, std::min(next, limit));
    handle_instant();
    if (limit <= next) return Pause::at_limit;
  }
}

}  // namespace sim::network
