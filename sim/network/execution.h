// Runs a system: events in whole picoseconds, equal instants handled as one set.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/fingerprint.h"
#include "sim/engine/indexed_heap.h"
#include "sim/network/outcome.h"
#include "sim/network/sharing.h"
#include "sim/network/system.h"

namespace sim::network {

class Repetition;

// One iteration after the other of a system whose capacities are changed from outside. All streams
// start an iteration together, when all have ended the one before.
class Execution {
 public:
  enum class Pause { iteration_ended, at_limit, stuck };
  static constexpr Picoseconds never = Sharing::never;

  // Starts at `now`. The system outlives the execution; its `changes` and `iterations` are not
  // looked at. `skips`: what provably repeats within an iteration is not run.
  explicit Execution(const System& system, Picoseconds now = 0, bool skips = false);
  ~Execution();

  // Records, times and loads are those of iterations that are kept.
  void begin_iteration(bool is_kept);
  void set_capacity(std::int32_t resource, std::int64_t capacity);
  // Goes on to the end of the iteration, or to `limit`: then everything that happens at that
  // instant has been handled, and capacities may be changed before going on.
  Pause advance(Picoseconds limit = never);

  // Becomes what `coarse` is, in the middle of an iteration: each stream is at the point where its
  // parent is. REQUIRES: nothing has begun here; programs are the same.
  void adopt(const Execution& coarse, std::span<const std::int32_t> parent);

  Picoseconds now() const { return now_; }
  // Of the iteration so far.
  const engine::Fingerprint& fingerprint() const { return fingerprint_; }
  std::uint64_t events() const { return events_; }
  const System& system() const { return system_; }
  std::vector<std::int64_t> capacity() const;  // [resource]
  std::vector<Record> take_records() { return std::exchange(outcome_.records, {}); }
  // Fills times, ends, records and loads; the execution is over.
  void take(Outcome& outcome);
  std::vector<std::int32_t> positions() const;

 private:
  friend class Repetition;
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
    bool is_parked = false;  // flows on, from when the heap says, with parked_
  };
  struct Waiter {
    std::int32_t stream, wait, member, target, next;
  };

  State& state(std::int32_t stream) { return streams_[static_cast<std::size_t>(stream)]; }
  const State& state(std::int32_t stream) const {
    return streams_[static_cast<std::size_t>(stream)];
  }
  const Program& program(std::int32_t stream) const { return system_.program_of(stream); }
  const Step& step_of(std::int32_t stream) const {
    return program(stream).steps[static_cast<std::size_t>(state(stream).position)];
  }
  void arrive(std::int32_t stream);
  int count_waits(std::int32_t stream);
  void add_waiter(std::int32_t stream, const Target& target);
  void meet(const Waiter& waiter, std::int32_t target);
  void reserve(const Step& step, std::int32_t member, int sign);
  void begin(std::int32_t stream);
  void flow(std::int32_t stream, const Step& step, Int128 work);
  void end(std::int32_t stream);
  void account(std::int32_t stream, const Step& step);
  void add_to_fingerprint(const Stream& stream, std::int32_t step, Picoseconds at);
  // Stops flowing until `at`.
  void park(std::int32_t stream, Picoseconds at);
  void wait_again(std::int32_t stream);
  void account_gap(std::int32_t stream);
  void wake(std::int32_t stream);
  void handle_instant();
  void settle();
  void resolve();
  void observe();

  const System& system_;
  std::vector<std::uint64_t> program_hash_;  // [program]
  std::vector<State> streams_;
  engine::IndexedHeap heap_;  // ends of lags, and of steps that use nothing
  Sharing sharing_;
  engine::Fingerprint fingerprint_;
  std::uint64_t events_ = 0;
  Outcome outcome_;
  std::vector<Waiter> waiters_;
  std::int32_t free_waiter_ = -1;
  std::vector<std::int32_t> ready_, due_;
  std::vector<Use> uses_;
  std::vector<Int128> observed_load_;          // [observed resource]
  std::vector<Picoseconds> unobserved_until_;  // [observed resource] in a part that jumped
  std::map<std::int32_t, Int128> parked_;      // [stream] what remains
  std::unique_ptr<Repetition> repetition_;
  Picoseconds now_ = 0, iteration_start_ = 0;
  std::size_t unfinished_ = 0;
  bool keeps_ = false;
  bool is_unobserved_ = true;  // loads may differ from the last ones, whatever changes now
};

}  // namespace sim::network
