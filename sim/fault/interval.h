// How often to save: by formula, and by simulation.
#pragma once

#include <optional>

#include "sim/fault/estimate.h"

namespace sim::fault {

// The first-order optimum for blocking checkpoints that take `stall`, and a mean time between
// failures. Worked: 50 s, 3 h -> sqrt(2 * 50 * 10800) = 1039 s.
// Source: Young, Comm. ACM 17 (9), 1974, 530-531.
Seconds young_interval(Seconds stall, Seconds time_to_interruption);
// The higher order; the mean time between failures where a checkpoint takes twice as long or more.
// Source: Daly, Future Generation Computer Systems 22 (3), 2006, 303-312.
Seconds daly_interval(Seconds stall, Seconds time_to_interruption);

struct Interval {
  Seconds every;
  double ratio = 0;  // work / wall with it
};
// The interval with the least mean of wall time / work over the same histories: a grid around
// `start`, then a parabola through the neighbours of the best. Nothing where no failure makes
// saving worth while: the best of the grid is its largest still after it was extended.
std::optional<Interval> best_interval(const Model& model, const Policy& policy, Rates& rates,
                                      Seconds start, int histories, const Effort& effort);

}  // namespace sim::fault
