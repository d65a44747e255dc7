// Lengths of time that vary: lives of parts, repairs, delays.
#pragma once

#include <vector>

#include "sim/base/quantity.h"

namespace sim::fault {

struct Distribution {
  enum class Kind { fixed, exponential, weibull, lognormal, table };
  Kind kind = Kind::fixed;
  Seconds scale;     // fixed: the time; exponential: mean; weibull: scale; lognormal: median
  double shape = 1;  // weibull: k; lognormal: deviation of the natural logarithm
  std::vector<Seconds> table;  // ascending; linear between them, which are equally likely apart

  static Distribution fixed(Seconds time) { return {Kind::fixed, time, 1, {}}; }
  static Distribution exponential(Seconds mean) { return {Kind::exponential, mean, 1, {}}; }
};

// The time below which a share of all lie.
// Worked: exponential with mean 1 h, share 1 - 1/e -> 1 h. Table {1, 3} s, share 0.25 -> 1.5 s.
// REQUIRES: 0 < share < 1; a table has at least one time.
Seconds quantile(const Distribution& distribution, double share);

// Worked: Weibull with scale 1 s, k = 1/2 -> 2 s; lognormal with median 1 s, shape 1 -> e^(1/2) s.
Seconds mean(const Distribution& distribution);

// How long a part lasts, from when it is new.
struct Life {
  Distribution distribution;
  // Infant mortality, of an exponential life: the rate is (1 + extra e^(-age / decay)) times that
  // of old parts. 0: none.
  double infant_extra = 0;
  Seconds infant_decay;
};

// The integral of the rate at which a part that still works fails, from new up to an age.
// Worked: exponential with mean 10 s, age 5 s -> 0.5; Weibull with scale 1 s, k = 1/2, 4 s -> 2.
double cumulative_hazard(const Life& life, Seconds age);
// The age at which the cumulative hazard has a value; its inverse.
Seconds age_at(const Life& life, double hazard);

}  // namespace sim::fault
