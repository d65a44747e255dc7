// The run loop.
#include "sim/network/execution.h"

#include <algorithm>

#include "sim/engine/fingerprint.h"
#include "sim/engine/indexed_heap.h"
#include "sim/network/sharing.h"
#include "sim/network/stuck.h"

namespace sim::network {
namespace {

class Execution {
 public:
  explicit Execution(const System& system)
      : system_(system),
        streams_(system.streams.size()),
        heap_(system.streams.size()),
        sharing_(system.capacity, system.streams.size(), system.observed) {
    outcome_.times.assign(streams_.size(), {});
    outcome_.last_ends.assign(streams_.size(), 0);
  }

  std::variant<Outcome, Stuck> run();

 private:
  struct State {
    std::int32_t position = 0;         // steps ended in this iteration
    std::int32_t unmet = 0;            // waits of the next step that are not met
    Picoseconds previous_end = 0;      // of the step before
    Picoseconds started_at = 0;        // of the step in progress: all waits met
    Picoseconds ended_started_at = 0;  // when the last step that ended had started
    Picoseconds met_at = 0;            // when the last wait was met
    std::int32_t met_slot = -1;        // its slot, -1: nothing was waited for
    Picoseconds met_started_at = 0;    // when the operation waited for had started
    std::int32_t waiter = -1;          // first entry in waiters_ of those who wait for this stream
    bool is_flowing = false;           // past its lag
    bool is_running = false;
  };
  struct Waiter {
    std::int32_t stream, wait, target, next;
  };

  const Program& program(std::int32_t stream) const {
    return system_.programs[static_cast<std::size_t>(
        system_.streams[static_cast<std::size_t>(stream)].program)];
  }
  State& state(std::int32_t stream) { return streams_[static_cast<std::size_t>(stream)]; }
  const Slot& slot_of(std::int32_t stream, std::int32_t slot) const {
    return system_.slots[static_cast<std::size_t>(
        system_.streams[static_cast<std::size_t>(stream)].first_slot + slot)];
  }
  void begin_iteration(bool is_last);
  void arrive(std::int32_t stream);
  void meet(std::int32_t stream, std::int32_t wait_index, std::int32_t target);
  void reserve(std::int32_t stream, const Step& step, std::int32_t footprint, int sign);
  void begin(std::int32_t stream);
  void flow(std::int32_t stream, const Step& step);
  void end(std::int32_t stream);
  void account(std::int32_t stream, const Step& step);
  void account_gap(std::int32_t stream);
  void wake(std::int32_t stream);
  void handle_instant();
  void settle();
  void observe();
  bool run_iteration(bool is_last);
  void repeat();

  const System& system_;
  std::vector<State> streams_;
  engine::IndexedHeap heap_;  // ends of lags, and of steps that use nothing
  Sharing sharing_;
  engine::Fingerprint fingerprint_;
  Outcome outcome_;
  std::vector<Waiter> waiters_;
  std::int32_t free_waiter_ = -1;
  std::vector<std::int32_t> ready_, due_;
  std::vector<Use> uses_;
  std::vector<Int128> observed_load_;  // [observed resource]
  Picoseconds now_ = 0;
  std::size_t next_change_ = 0;
  std::size_t unfinished_ = 0;
  bool keeps_ = false;  // this is the last iteration
};

void Execution::begin_iteration(bool is_last) {
  keeps_ = is_last;
  unfinished_ = 0;
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    const std::int32_t stream = static_cast<std::int32_t>(s);
    streams_[s].position = 0;
    streams_[s].previous_end = now_;
    outcome_.last_ends[s] = now_;
    if (program(stream).steps.empty()) continue;
    ++unfinished_;
    ready_.push_back(stream);
  }
}

// At its next step: counts what the stream must wait for.
void Execution::arrive(std::int32_t stream) {
  State& s = state(stream);
  const Program& p = program(stream);
  const Step& step = p.steps[static_cast<std::size_t>(s.position)];
  s.met_slot = -1;
  s.met_at = now_;
  s.unmet = 1;  // holds the start back until all waits are counted
  for (std::int32_t w = step.first_wait; w < step.first_wait + step.wait_count; ++w) {
    const Wait& wait = p.waits[static_cast<std::size_t>(w)];
    const Slot& slot = slot_of(stream, wait.slot);
    bool is_met = true;
    for (std::int32_t m = slot.first; m < slot.first + slot.count; ++m) {
      const std::int32_t target = system_.members[static_cast<std::size_t>(m)];
      const std::int32_t needed =
          program(target).milestones[static_cast<std::size_t>(wait.milestone)];
      if (state(target).position >= needed) continue;
      is_met = false;
      ++s.unmet;
      std::int32_t entry = free_waiter_;
      if (entry < 0) {
        entry = static_cast<std::int32_t>(waiters_.size());
        waiters_.push_back({});
      } else {
        free_waiter_ = waiters_[static_cast<std::size_t>(entry)].next;
      }
      waiters_[static_cast<std::size_t>(entry)] = {stream, w, needed, state(target).waiter};
      state(target).waiter = entry;
    }
    if (is_met && wait.reserve >= 0) reserve(stream, step, wait.reserve, 1);
  }
  if (--s.unmet == 0) begin(stream);
}

void Execution::reserve(std::int32_t stream, const Step& step, std::int32_t footprint, int sign) {
  const Footprint& f = system_.footprints[static_cast<std::size_t>(
      system_.streams[static_cast<std::size_t>(stream)].first_footprint + footprint)];
  for (std::int32_t c = f.first; c < f.first + f.count; ++c) {
    sharing_.reserve(system_.coefficients[static_cast<std::size_t>(c)].resource,
                     sign * step.reserve);
  }
}

// One of the streams waited for has come far enough.
void Execution::meet(std::int32_t stream, std::int32_t wait_index, std::int32_t target) {
  State& s = state(stream);
  const Program& p = program(stream);
  const Wait& wait = p.waits[static_cast<std::size_t>(wait_index)];
  const Picoseconds started = state(target).ended_started_at;
  // Of several met at this instant, the one that started last, then the lowest slot, is blamed.
  if (s.met_slot < 0 || s.met_at < now_ || started > s.met_started_at ||
      (started == s.met_started_at && wait.slot < s.met_slot)) {
    s.met_at = now_;
    s.met_slot = wait.slot;
    s.met_started_at = started;
  }
  if (wait.reserve >= 0) {
    const Slot& slot = slot_of(stream, wait.slot);
    invariant(slot.count == 1, "a reservation belongs to one member of a group");
    reserve(stream, p.steps[static_cast<std::size_t>(s.position)], wait.reserve, 1);
  }
  if (--s.unmet == 0) begin(stream);
}

void Execution::account_gap(std::int32_t stream) {
  State& s = state(stream);
  const Picoseconds gap_start = s.previous_end;
  if (!keeps_ || gap_start == now_) return;
  auto& times = outcome_.times[static_cast<std::size_t>(stream)];
  invariant(s.met_slot >= 0, "a stream paused without waiting");
  const Slot& slot = slot_of(stream, s.met_slot);
  const Picoseconds border = std::clamp(s.met_started_at, gap_start, now_);
  times[slot.kind_late] += border - gap_start;
  times[slot.kind_in_progress] += now_ - border;
}

void Execution::begin(std::int32_t stream) {
  State& s = state(stream);
  const Step& step = program(stream).steps[static_cast<std::size_t>(s.position)];
  if (system_.streams[static_cast<std::size_t>(stream)].is_accounted) account_gap(stream);
  s.started_at = now_;
  s.is_running = true;
  s.is_flowing = false;
  if (step.use_count == 0 || step.work == 0) {
    s.is_flowing = true;
    heap_.set(stream, now_ + step.lag + step.work);
  } else if (step.lag > 0) {
    heap_.set(stream, now_ + step.lag);
  } else {
    flow(stream, step);
  }
}

void Execution::flow(std::int32_t stream, const Step& step) {
  const Program& p = program(stream);
  const Stream& description = system_.streams[static_cast<std::size_t>(stream)];
  uses_.clear();
  for (std::int32_t u = step.first_use; u < step.first_use + step.use_count; ++u) {
    const StepUse& use = p.uses[static_cast<std::size_t>(u)];
    const Footprint& f =
        system_.footprints[static_cast<std::size_t>(description.first_footprint + use.footprint)];
    for (std::int32_t c = f.first; c < f.first + f.count; ++c) {
      const Coefficient& coefficient = system_.coefficients[static_cast<std::size_t>(c)];
      const Int128 amount = Int128{use.amount} * coefficient.coefficient;
      uses_.push_back(
          {coefficient.resource, static_cast<std::int64_t>(amount >> Coefficient::bits)});
    }
  }
  state(stream).is_flowing = true;
  heap_.remove(stream);
  sharing_.start(stream, step.work, step.weight, uses_, now_);
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
    meet(waiter.stream, waiter.wait, stream);
  }
}

void Execution::end(std::int32_t stream) {
  State& s = state(stream);
  const Program& p = program(stream);
  const Step& step = p.steps[static_cast<std::size_t>(s.position)];
  const Stream& description = system_.streams[static_cast<std::size_t>(stream)];
  if (step.reserve > 0) {
    for (std::int32_t w = step.first_wait; w < step.first_wait + step.wait_count; ++w) {
      const Wait& wait = p.waits[static_cast<std::size_t>(w)];
      if (wait.reserve >= 0) reserve(stream, step, wait.reserve, -1);
    }
  }
  if (keeps_) {
    if (description.is_accounted) account(stream, step);
    if (description.is_recorded) {
      outcome_.records.push_back({stream, s.position, s.started_at, now_});
    }
    outcome_.last_ends[static_cast<std::size_t>(stream)] = now_;
  }
  fingerprint_.add(static_cast<std::uint64_t>(stream), static_cast<std::uint64_t>(s.position),
                   now_);
  s.is_running = s.is_flowing = false;
  s.ended_started_at = s.started_at;
  s.previous_end = now_;
  ++s.position;
  if (static_cast<std::size_t>(s.position) < p.steps.size()) {
    ready_.push_back(stream);
  } else {
    --unfinished_;
  }
  wake(stream);
}

// Everything that is due now: ends of lags and of operations, then whatever they allow to start.
void Execution::handle_instant() {
  while (next_change_ < system_.changes.size() && system_.changes[next_change_].at <= now_) {
    const CapacityChange& change = system_.changes[next_change_++];
    sharing_.set_capacity(change.resource, change.capacity);
  }
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
      State& s = state(stream);
      const Step& step = program(stream).steps[static_cast<std::size_t>(s.position)];
      if (s.is_flowing) {
        end(stream);
      } else {
        flow(stream, step);
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

void Execution::observe() {
  observed_load_.resize(system_.observed.size(), -1);
  for (std::size_t i = 0; i < system_.observed.size(); ++i) {
    const Int128 load = sharing_.load(system_.observed[i]);
    if (load == observed_load_[i]) continue;
    observed_load_[i] = load;
    outcome_.loads.push_back({system_.observed[i], now_, load});
  }
}

bool Execution::run_iteration(bool is_last) {
  begin_iteration(is_last);
  settle();
  for (;;) {
    handle_instant();
    sharing_.resolve(now_);
    if (keeps_) observe();
    if (unfinished_ == 0) return true;
    Picoseconds next = sharing_.earliest();
    if (next_change_ < system_.changes.size()) {
      next = std::min(next, system_.changes[next_change_].at);
    }
    if (!heap_.empty()) next = std::min(next, heap_.earliest());
    if (next == Sharing::never) return false;
    now_ = std::max(now_, next);
  }
}

// Appends copies of the only iteration that ran; what was kept of it moves to the last one.
void Execution::repeat() {
  const Picoseconds duration = now_;
  invariant(Int128{duration} * system_.iterations <= INT64_MAX, "the run is longer than 106 days");
  for (int i = 1; i < system_.iterations; ++i) {
    outcome_.iteration_ends.push_back(duration * (i + 1));
  }
  const Picoseconds start = duration * (system_.iterations - 1);
  for (Picoseconds& end : outcome_.last_ends) end += start;
  for (Record& record : outcome_.records) {
    record.started_at += start;
    record.ended_at += start;
  }
  for (LoadRecord& load : outcome_.loads) load.at += start;
}

std::variant<Outcome, Stuck> Execution::run() {
  // Without changes every iteration repeats the first.
  const int runs = system_.changes.empty() ? 1 : system_.iterations;
  for (int i = 0; i < runs; ++i) {
    if (!run_iteration(i + 1 == runs)) {
      std::vector<std::int32_t> positions;
      for (const State& s : streams_) positions.push_back(s.position);
      return Stuck{now_, wait_cycle(system_, positions)};
    }
    outcome_.iteration_ends.push_back(now_);
  }
  if (runs < system_.iterations) repeat();
  outcome_.fingerprint = fingerprint_.value();
  outcome_.events = fingerprint_.events();
  return std::move(outcome_);
}

}  // namespace

std::variant<Outcome, Stuck> run(const System& system) { return Execution(system).run(); }
}  // namespace sim::network
