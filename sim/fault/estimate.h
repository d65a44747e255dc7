// Many histories of a job: what to expect, and how sure that is.
#pragma once

#include <functional>
#include <optional>

#include "sim/fault/history.h"

namespace sim::fault {

// Of a number that differs from history to history.
struct Spread {
  double mean = 0;
  double half_width = 0;  // of the 95 % confidence interval of the mean
  double p10 = 0, p90 = 0;
};
// REQUIRES: values is not empty.
Spread spread(std::vector<double> values);

struct Effort {
  double precision = 0.001;  // half width of the interval of the ratio, relative to it
  int histories_max = 1000;
  std::uint64_t seed = 1;
  int threads = 1;
  // Told now and then; the numbers do not depend on it.
  std::function<void(int done, const Spread& ratio)> progress = {};
};

// Both least numbers of histories, and how many are added at a time.
inline constexpr int histories_at_once = 32;

// One value of each history.
struct Columns {
  std::vector<double> ratio, wall, work, interruptions;
};

struct Cause {
  double interruptions = 0, lost = 0;  // of a history, on average; [s]
};

struct Estimate {
  int histories = 0;
  bool is_precise = true;  // as asked for
  int unfinished = 0;      // histories that were given up: no progress
  Spread ratio;            // work / wall: the effective training time ratio
  Spread wall, work;       // [s]
  Spread interruptions;
  double time_to_interruption = 0;                 // [s] wall time a failure; infinite without any
  double checkpoints = 0, memory_checkpoints = 0;  // of a history, on average
  double growing = 0;                              // the same; [s]
  std::array<double, loss_count> lost{};           // [loss][s]
  std::vector<Cause> causes;                       // [process]
  Columns columns;
  std::vector<std::int64_t> hosts_out;  // [hosts under repair] interruptions
};

// Histories are added until the ratio is as precise as asked for. The same for any number of
// threads.
Estimate estimate(const Model& model, const Policy& policy, Rates& rates, const Effort& effort);

// The mean of wall time / work over the first `histories`, the same ones for every model, so that
// models can be compared.
double mean_stretch(const Model& model, const Policy& policy, Rates& rates, int histories,
                    const Effort& effort);

}  // namespace sim::fault
