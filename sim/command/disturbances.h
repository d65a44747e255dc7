// From the stragglers of a scenario to what is disturbed when.
#pragma once

#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/training/job.h"
#include "topology/cluster.h"

namespace sim::command {

// Every device, and both directions of a link, draws for itself; what it draws depends on the seed,
// its place in the cluster and the straggler's number alone. What is wrong goes to `diagnostics`.
std::vector<training::Disturbance> disturbances(const scenario::Scenario& scenario,
                                                const topology::Cluster& cluster,
                                                Diagnostics& diagnostics);

}  // namespace sim::command
