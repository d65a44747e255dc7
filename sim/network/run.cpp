// Iterations, changes of capacity, and what repeats.
#include "sim/network/run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "sim/network/execution.h"
#include "sim/network/stuck.h"

namespace sim::network {
namespace {

class Driver {
 public:
  Driver(const System& system, const RunOptions& options)
      : system_(system), options_(options), capacity_(system.capacity) {}

  std::variant<Outcome, Stuck> run();

 private:
  Picoseconds next_change() const {
    return change_ < system_.changes.size() ? system_.changes[change_].at : Execution::never;
  }
  void apply_changes(Picoseconds now, Execution* execution);
  void change(std::unique_ptr<Execution>& execution);
  std::optional<Stuck> run_iteration();
  void expand(std::vector<Record>& records) const;
  void keep(Execution& execution);
  void end_iteration(std::uint64_t fingerprint);
  void repeat(Picoseconds duration, std::uint64_t fingerprint, int times);

  const System& system_;
  const RunOptions& options_;
  std::vector<std::int64_t> capacity_;  // of the whole system, now
  std::size_t change_ = 0;              // next
  Picoseconds now_ = 0;
  Outcome outcome_;
};

void Driver::apply_changes(Picoseconds now, Execution* execution) {
  for (; next_change() <= now; ++change_) {
    const CapacityChange& change = system_.changes[change_];
    capacity_[static_cast<std::size_t>(change.resource)] = change.capacity;
    if (execution) execution->set_capacity(change.resource, change.capacity);
  }
}

// Records of the streams that were run -> of all recorded streams that they stand for.
void Driver::expand(std::vector<Record>& records) const {
  if (!options_.folding || records.empty()) return;
  const std::vector<std::int32_t>& class_of = options_.folding->class_of_stream();
  std::multimap<std::int32_t, std::int32_t> recorded;  // class -> stream
  for (std::size_t s = 0; s < class_of.size(); ++s) {
    if (system_.streams[s].is_recorded) {
      recorded.emplace(class_of[s], static_cast<std::int32_t>(s));
    }
  }
  std::vector<Record> whole;
  for (const Record& record : records) {
    const auto [first, last] = recorded.equal_range(record.stream);
    for (auto r = first; r != last; ++r) {
      whole.push_back({r->second, record.step, record.started_at, record.ended_at});
    }
  }
  records = std::move(whole);
}

// What the iteration that has ended leaves, as of the whole system.
void Driver::keep(Execution& execution) {
  std::vector<Record> before = std::move(outcome_.records);
  execution.take(outcome_);
  expand(outcome_.records);
  outcome_.records.insert(outcome_.records.begin(), before.begin(), before.end());
  if (!options_.folding) return;
  const auto times = std::move(outcome_.times);
  const auto last_ends = std::move(outcome_.last_ends);
  outcome_.times.clear();
  outcome_.last_ends.clear();
  for (const std::int32_t c : options_.folding->class_of_stream()) {
    outcome_.times.push_back(times[static_cast<std::size_t>(c)]);
    outcome_.last_ends.push_back(last_ends[static_cast<std::size_t>(c)]);
  }
}

// In the middle of an iteration: streams that were alike may no longer be.
void Driver::change(std::unique_ptr<Execution>& execution) {
  if (!options_.folding) return apply_changes(execution->now(), execution.get());
  apply_changes(execution->now(), nullptr);
  std::vector<Record> records = execution->take_records();
  expand(records);
  outcome_.records.insert(outcome_.records.end(), records.begin(), records.end());
  std::vector<std::int32_t> parent;
  const System& finer = options_.folding->at_change(capacity_, parent);
  auto child = std::make_unique<Execution>(finer, execution->now(), options_.skips);
  child->adopt(*execution, parent);
  execution = std::move(child);
}

std::optional<Stuck> Driver::run_iteration() {
  apply_changes(now_, nullptr);
  const System& system = options_.folding ? options_.folding->at_barrier(capacity_) : system_;
  auto execution = std::make_unique<Execution>(system, now_, options_.skips);
  if (!options_.folding) {
    for (std::size_t r = 0; r < capacity_.size(); ++r) {
      if (capacity_[r] == system_.capacity[r]) continue;
      execution->set_capacity(static_cast<std::int32_t>(r), capacity_[r]);
    }
  }
  outcome_.records.clear();
  const std::size_t changes_before = change_;
  const int left = system_.iterations - static_cast<int>(outcome_.iteration_ends.size());
  execution->begin_iteration(options_.skips || left == 1);
  Execution::Pause pause;
  while ((pause = execution->advance(next_change())) == Execution::Pause::at_limit) {
    change(execution);
  }
  if (pause == Execution::Pause::stuck) {
    return Stuck{execution->now(),
                 wait_cycle(execution->system(), execution->capacity(), execution->positions())};
  }
  const Picoseconds duration = execution->now() - now_;
  now_ = execution->now();
  keep(*execution);
  const std::uint64_t fingerprint = execution->fingerprint().value();
  outcome_.events += execution->events();
  end_iteration(fingerprint);
  // What began alike and was not disturbed repeats up to the next change.
  if (!options_.skips || change_ > changes_before || left == 1) return std::nullopt;
  std::int64_t times = left - 1;
  if (next_change() != Execution::never && duration > 0) {
    times = std::min<std::int64_t>(times, (next_change() - now_) / duration);
  }
  repeat(duration, fingerprint, static_cast<int>(times));
  return std::nullopt;
}

void Driver::end_iteration(std::uint64_t fingerprint) {
  outcome_.iteration_ends.push_back(now_);
  outcome_.fingerprint = engine::mix(outcome_.fingerprint ^ fingerprint);
}

// Appends copies of the iteration that ran last; what was kept of it moves to the last one.
void Driver::repeat(Picoseconds duration, std::uint64_t fingerprint, int times) {
  invariant(Int128{duration} * times + now_ <= INT64_MAX, "the run is longer than 106 days");
  for (int i = 0; i < times; ++i) {
    now_ += duration;
    end_iteration(fingerprint);
  }
  const Picoseconds shift = duration * times;
  for (Picoseconds& end : outcome_.last_ends) end += shift;
  for (Record& record : outcome_.records) {
    record.started_at += shift;
    record.ended_at += shift;
  }
  for (LoadRecord& load : outcome_.loads) load.at += shift;
}

std::variant<Outcome, Stuck> Driver::run() {
  while (outcome_.iteration_ends.size() < static_cast<std::size_t>(system_.iterations)) {
    if (auto stuck = run_iteration()) return std::move(*stuck);
  }
  return std::move(outcome_);
}

}  // namespace

std::variant<Outcome, Stuck> run(const System& system, const RunOptions& options) {
  return Driver(system, options).run();
}

}  // namespace sim::network
