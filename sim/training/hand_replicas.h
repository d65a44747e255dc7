// Which hosts are made for collectives of a whole cluster.
#pragma once

#include <optional>

#include "sim/training/communication.h"
#include "sim/training/replica_plan.h"

namespace sim::training {

// Replicas of one device each, where all operations are collectives of all devices in their order
// that run along rings, whole or in each host and over the hosts. None where all devices are made.
std::optional<ReplicaPlan> hand_replicas(const Job& job);

// The group of all devices; only those that its ring shows are listed.
std::unique_ptr<Communicator> whole_cluster(const Job& job, const ReplicaPlan& plan);

}  // namespace sim::training
