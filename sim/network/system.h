// What the engine runs: streams of operations that wait for each other and flow through resources.
//
// A program is shared by all streams that do the same; it names other streams and resources by
// slot, and each stream says what its slots mean. So memory follows the number of kinds of streams,
// not the number of operations in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/fixed.h"
#include "sim/network/max_min.h"

namespace sim::network {

// An operation waits until every stream in a slot has reached a milestone of its own program in
// the same iteration.
struct Wait {
  std::int32_t slot = 0;
  std::int32_t milestone = 0;
  // From when a member comes that far to the operation's end, the member's footprint is reserved.
  bool reserves = false;
};

// `amount` flows through every resource of a footprint, times the resource's coefficient.
struct StepUse {
  std::int32_t footprint = 0;
  std::int64_t amount = 0;
};

// Work of one kind within a merged operation.
struct Part {
  std::uint8_t kind = 0;
  Picoseconds work = 0;
};

struct Step {
  Picoseconds lag = 0;   // passes before the operation loads anything
  Picoseconds work = 0;  // duration alone
  std::int64_t weight = weight_one;
  std::int64_t reserve = 0;  // taken from each resource that a wait reserves
  std::int32_t first_wait = 0, first_use = 0, first_part = 0, label = 0;
  std::uint16_t wait_count = 0, use_count = 0, part_count = 0;
  std::uint8_t kind = 0;  // of the time it takes
};

struct Program {
  std::vector<Step> steps;
  std::vector<Wait> waits;
  std::vector<StepUse> uses;
  std::vector<Part> parts;
  std::vector<std::int32_t> milestones;  // [milestone] steps that must have ended
  std::vector<std::string> labels;
  // Steps whose time, and the waiting before them, the stream's times are of.
  std::int32_t accounted_from = 0, accounted_to = INT32_MAX;
  bool is_accounted(std::int32_t step) const {
    return accounted_from <= step && step < accounted_to;
  }
};

struct Member {
  std::int32_t stream = 0;
  std::int32_t footprint = -1;  // what waits for this stream reserve; -1: nothing
};
struct Slot {
  std::int32_t first = 0, count = 0;  // in System::members
  // How the time is called in which a stream waits for this slot: while the operation waited for is
  // in progress, and before it has started.
  std::uint8_t kind_in_progress = 0, kind_late = 0;
};
// `count` streams like this one load the resource alike, this one standing for all of them.
struct Coefficient {
  std::int32_t resource = 0;
  std::int32_t count = 1;
  std::int64_t coefficient = coefficient_one;
  static constexpr int bits = 20;
  static constexpr std::int64_t coefficient_one = std::int64_t{1} << bits;
};
struct Footprint {
  std::int32_t first = 0, count = 0;  // in System::coefficients
};

struct Stream {
  std::int64_t size = 1;  // streams that it stands for
  std::int32_t program = 0;
  std::int32_t first_slot = 0, first_footprint = 0;
  std::int32_t owner = 0;     // the rank or group it belongs to, for people
  bool is_accounted = false;  // its time is cut into kinds
  bool is_recorded = false;   // every operation of the last iteration is kept
};

struct CapacityChange {
  Picoseconds at = 0;
  std::int32_t resource = 0;
  std::int64_t capacity = 0;
};

struct System {
  std::vector<std::int64_t> capacity;  // [resource] bytes/s, or parts of multiprocessors_one
  // Asked for only when something has to be told; empty where nobody names them.
  std::function<std::string(std::int32_t)> resource_name;
  std::vector<Program> programs;
  std::vector<Stream> streams;
  std::vector<std::string> stream_names;  // [stream]; what a deadlock message calls it
  std::vector<Slot> slots;
  std::vector<Member> members;  // by slot
  std::vector<Footprint> footprints;
  std::vector<Coefficient> coefficients;
  std::vector<CapacityChange> changes;  // by time
  std::vector<std::int32_t> observed;   // resources whose load over time is kept
  std::vector<char> is_passive;         // [resource] only observed, never binding; empty: none
  int iterations = 1;

  const Program& program_of(std::int32_t stream) const {
    return programs[static_cast<std::size_t>(streams[static_cast<std::size_t>(stream)].program)];
  }
  const Slot& slot_of(std::int32_t stream, std::int32_t slot) const {
    return slots[static_cast<std::size_t>(streams[static_cast<std::size_t>(stream)].first_slot +
                                          slot)];
  }
  std::span<const Member> members_of(const Slot& slot) const {
    return std::span(members).subspan(static_cast<std::size_t>(slot.first),
                                      static_cast<std::size_t>(slot.count));
  }
  std::span<const Coefficient> coefficients_of(std::int32_t footprint) const {
    const Footprint& f = footprints[static_cast<std::size_t>(footprint)];
    return std::span(coefficients)
        .subspan(static_cast<std::size_t>(f.first), static_cast<std::size_t>(f.count));
  }
  std::int64_t steps_of(const Stream& stream) const {
    return static_cast<std::int64_t>(
        programs[static_cast<std::size_t>(stream.program)].steps.size());
  }
  // Operations of one iteration, of all streams that these stand for.
  std::int64_t tasks() const {
    std::int64_t sum = 0;
    for (const Stream& s : streams) sum += s.size * steps_of(s);
    return sum;
  }
};

// One stream that a step waits for.
struct Target {
  std::int32_t wait = 0;    // in Program::waits
  std::int32_t member = 0;  // in System::members
  std::int32_t stream = 0;
  std::int32_t needed = 0;  // steps that it must have ended
};
// Visits all that the stream's step waits for, in order, until `visit` returns true. Returns
// whether it did.
template <class Visit>
bool any_target(const System& system, std::int32_t stream, const Step& step, Visit visit) {
  const Program& program = system.program_of(stream);
  for (std::int32_t w = step.first_wait; w < step.first_wait + step.wait_count; ++w) {
    const Wait& wait = program.waits[static_cast<std::size_t>(w)];
    const Slot& slot = system.slot_of(stream, wait.slot);
    for (std::int32_t m = slot.first; m < slot.first + slot.count; ++m) {
      const std::int32_t target = system.members[static_cast<std::size_t>(m)].stream;
      const auto& milestones = system.program_of(target).milestones;
      if (visit(Target{w, m, target, milestones[static_cast<std::size_t>(wait.milestone)]})) {
        return true;
      }
    }
  }
  return false;
}

// What a coefficient adds to its resource when `amount` flows through the footprint: each stream's
// part is rounded down by itself, so that the sum does not depend on who stands for whom.
inline std::int64_t amount_through(const Coefficient& c, std::int64_t amount) {
  return static_cast<std::int64_t>(Int128{amount} * c.coefficient >> Coefficient::bits) * c.count;
}

// A number for what a program does; programs that differ in any duration, use or wait have
// different ones.
std::uint64_t program_hash(const Program& program);

}  // namespace sim::network
