// How many spare hosts are enough.
#pragma once

#include "sim/fault/estimate.h"

namespace sim::fault {

// Spare hosts with which a share of all interruptions need not wait for a repair, if the job
// restarts whole: a quantile of the hosts that are out when one happens, its own among them.
// Histories run with as many spares as they ask for.
struct SparesNeeded {
  double share = 0;
  int hosts = 0;
};
std::vector<SparesNeeded> spares_needed(const Model& model, Rates& rates,
                                        const std::vector<double>& shares, const Effort& effort);

}  // namespace sim::fault
