// Whether replicas can be left out where leaves and pods are no whole blocks of them.
#pragma once

#include <optional>

#include "sim/training/replica_plan.h"

namespace sim::training {

// None where replicas share links of hosts and no whole number of them fills hosts in every run of
// ranks, where a group of data-parallel ranks is not longer than a domain, where a hash chooses
// paths, and where little would be gained.
std::optional<ReplicaPlan> uneven_plan(const Job& job, const plan::RankGrid& grid);

}  // namespace sim::training
