// Finds parts of a system that repeat what they did, and lets them jump ahead.
//
// A part is a set of streams that neither wait for others nor share resources with them, apart from
// streams that stand still. When a part is in a state in which it was a period before, and its
// programs go on as they did from then, all that follows repeats, shifted: positions, times, what
// is recorded. Everything is compared in full, in whole picoseconds, so a jump changes no result.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/network/execution.h"
#include "sim/network/program_names.h"

namespace sim::network {

class Repetition {
 public:
  explicit Repetition(Execution& execution) : run_(execution) {}

  void begin_iteration();
  // What was before is no longer what follows: a capacity has changed.
  void forget();
  // A step of the stream has ended; its position is past it.
  void ended(std::int32_t stream, std::int32_t step, Picoseconds started_at);
  // After an instant has been handled, rates included. Nothing jumps to `limit` or beyond.
  // Returns whether anything jumped.
  bool look(Picoseconds limit);

 private:
  using State = Execution::State;
  struct Event {
    std::int32_t stream, step;
    Picoseconds started_at, ended_at;
  };
  struct Snapshot {
    Picoseconds at = 0;
    std::uint64_t hash = 0;
    std::size_t events = 0;     // of the part's log so far
    std::vector<State> states;  // [stream of the part]
    std::vector<Picoseconds> due;
    std::vector<Int128> remaining;
    std::vector<std::array<Picoseconds, kind_max>> times;
    std::vector<Int128> loads;  // [observed of the part]
    // Of the streams outside, then of the targets: position and unmet waits. With both the same,
    // the stream did nothing, and reserves what it did.
    std::vector<std::int32_t> still;
  };
  struct Part {
    std::vector<std::int32_t> streams;
    std::vector<std::int32_t>
        outside;  // streams that wait for one of the part, or use what it uses
    std::vector<std::int32_t> targets;   // streams not of the part that it waits for
    std::vector<std::int32_t> observed;  // indices in System::observed
    std::int32_t pacer = -1;             // a state is kept whenever this one has gone on by
    std::int32_t stride = 0;             // so many steps
    std::int32_t kept = 0;               // states so far
    bool is_over = false;                // jumped, or given up
    std::vector<Event> log;
    std::deque<Snapshot> snapshots;
  };

  template <class Visit>
  void each_use(std::size_t stream, Visit visit);
  template <class Visit>
  void each_member(std::size_t stream, Visit visit);
  void group();
  void join(const std::vector<char>& is_still);
  bool has_ended(std::int32_t stream) const {
    const auto position = static_cast<std::size_t>(run_.state(stream).position);
    return position >= run_.program(stream).steps.size();
  }
  bool stands_still(std::int32_t stream) const;
  const ProgramNames& names_of(std::size_t stream);
  void pace(Part& part);
  static std::int32_t middle_period(const std::vector<std::int32_t>& sequence);
  const std::vector<std::int32_t>& contents(std::int32_t program);
  std::int32_t content(std::int32_t stream, std::int32_t step) {
    return contents(run_.system_.streams[static_cast<std::size_t>(stream)]
                        .program)[static_cast<std::size_t>(step)];
  }
  Snapshot snapshot(const Part& part);
  bool examine(Part& part, Picoseconds limit);
  bool is_repeated(const Part& part, const Snapshot& before, const Snapshot& now);
  bool is_shifted(std::int32_t stream, const State& a, const State& b, Picoseconds by);
  std::int64_t repeats(const Part& part, const Snapshot& before, const Snapshot& now,
                       Picoseconds limit);
  std::int64_t repeats_of(std::size_t index, const Part& part, const Snapshot& before,
                          const Snapshot& now);
  bool waits_alike(std::int32_t stream, std::int32_t step, std::int32_t advance,
                   const Snapshot& before, const Snapshot& now);
  bool is_held(std::int32_t stream, const Part& part, const Snapshot& before,
               bool is_direct = false) const;
  bool may_be_reserved(std::int32_t stream, const Part& part) const;
  bool has_moved(std::int32_t stream, const Part& part, const Snapshot& before) const;
  std::int64_t repeats_before(const Part& part, const Snapshot& before, const Snapshot& now);
  void jump(Part& part, const Snapshot& before, const Snapshot& now, std::int64_t times);
  void copy_events(const Part& part, const Snapshot& before, const Snapshot& now,
                   std::int64_t times);
  void move_waiters(const Part& part, const Snapshot& before);

  Execution& run_;
  std::vector<Part> parts_;
  std::vector<std::int32_t> part_of_;                // [stream], -1: none
  std::vector<std::int32_t> index_of_;               // [stream] in its part
  std::vector<std::int32_t> due_;                    // parts to look at
  std::vector<std::vector<std::int32_t>> contents_;  // [program][step] equal for equal steps
  std::vector<ProgramNames> names_;                  // [program]
  std::vector<std::int32_t> user_;  // [resource] a stream of the part that uses it, -1: none does
  std::int32_t longest_ = -1;       // the stream with the most steps
  std::int32_t group_at_ = 0;       // its position when parts are found anew
};

}  // namespace sim::network
