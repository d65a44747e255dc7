// Runs all iterations of a system, with its changes of capacity.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "sim/network/outcome.h"
#include "sim/network/system.h"

namespace sim::network {

// Which smaller system is run in place of one: each of its streams and resources stands for those
// that provably do the same.
class Folding {
 public:
  virtual ~Folding() = default;
  // For an iteration that starts with these capacities: [resource] of the whole system.
  virtual const System& at_barrier(std::span<const std::int64_t> capacity) = 0;
  // In the middle of an iteration: a finer system, in which equal streams have equal capacities
  // again. Writes for each of its streams the one of the system before that it was part of.
  virtual const System& at_change(std::span<const std::int64_t> capacity,
                                  std::vector<std::int32_t>& parent) = 0;
  // Of the system in use now: the streams of the whole system that each stream stands for.
  virtual const std::vector<std::int32_t>& class_of_stream() const = 0;
};

struct RunOptions {
  Folding* folding = nullptr;  // null: every stream is run
  bool skips = true;           // repeats what provably repeats instead of running it
};

// `skips` and `folding` change no result but Outcome::events.
std::variant<Outcome, Stuck> run(const System& system, const RunOptions& options = {});

}  // namespace sim::network
