// When a disturbed part is how slow: its factor as a function of time.
#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "sim/base/fixed.h"
#include "sim/base/random.h"

namespace sim::training {

// From `at` on the part has this share of its capacity.
struct Phase {
  Picoseconds at = 0;
  double factor = 1;
  bool operator==(const Phase&) const = default;
};

struct Steady {};
// For `lasts`, again and again, `every` after it began before. REQUIRES: 0 < lasts < every.
struct Periodic {
  Seconds every, lasts;
};
// From `start` to the factor in steps of equal length, each at what a straight line has in its
// middle, so that the work done meanwhile is that of the line. Then it stays.
struct Ramp {
  Seconds over;
  int steps = 10;
  double start = 1;
};
// On and off for times that are exponential with these means; off first.
struct OnOff {
  Seconds on, off;
  DrawKey key;  // its index counts the draws
};
// As recorded: instants since it began, ascending, and the factor from then on. Normal before the
// first; as in the last after it.
using Recorded = std::shared_ptr<const std::vector<Phase>>;

using Pattern = std::variant<Steady, Periodic, Ramp, OnOff, Recorded>;

// A pattern that begins at `from` and ends at `to`, as phases, ascending. Before the first the part
// is normal. One that does not end of itself ends with the first phase at or after `horizon`, in
// which the part is normal.
// Worked: a factor of 0.5 for 2 ms every 10 ms from 3 ms to 14 ms: 0.5 at 3 ms, 1 at 5 ms, 0.5 at
// 13 ms, 1 at 14 ms.
std::vector<Phase> phases(const Pattern& pattern, double factor, Seconds from,
                          std::optional<Seconds> to, Picoseconds horizon);

// Whether it goes on changing for as long as the job runs.
bool is_endless(const Pattern& pattern);
// Phases in a second, on average; 0: it ends of itself.
double phases_per_second(const Pattern& pattern);

}  // namespace sim::training
