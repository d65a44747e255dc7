// Whether replicas can be left out where leaves and pods are no whole blocks of them.
#pragma once

#include <optional>

#include "sim/training/replica_plan.h"

namespace sim::training {

// Hosts must be whole numbers of replicas or the reverse, in every run of ranks, or a few replicas
// in a row must be whole hosts. None where they are not, and where little would be gained.
std::optional<ReplicaPlan> uneven_plan(const Job& job, const plan::RankGrid& grid);

}  // namespace sim::training
