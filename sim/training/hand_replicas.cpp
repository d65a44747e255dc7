// Devices of hosts that can be exchanged, as if each were a data-parallel replica.
#include "sim/training/hand_replicas.h"

#include <algorithm>

namespace sim::training {

using collective::Operation;

namespace {

using Collective = HandOperation::Collective;

bool is_of_all_devices(const topology::Cluster& cluster, const Collective& what) {
  DeviceIndex next = 0;
  for (const std::string& name : what.devices) {
    for (const DeviceIndex device : cluster.devices_of_part(name)) {
      if (device != next++) return false;
    }
  }
  return next == cluster.device_count();
}

// A broadcast does too, but not around them.
bool is_around_rings(const Communicator& group, const Collective& what) {
  const bool is_exchange = what.operation == Operation::all_reduce ||
                           what.operation == Operation::all_gather ||
                           what.operation == Operation::reduce_scatter;
  return is_exchange && group.is_ring(what.operation, what.bytes, what.forced);
}

}  // namespace

std::optional<ReplicaPlan> hand_replicas(const Job& job) {
  std::vector<const Collective*> collectives;
  for (const HandOperation& operation : job.operations) {
    const auto* what = std::get_if<Collective>(&operation.what);
    if (!what || !is_of_all_devices(*job.cluster, *what)) return std::nullopt;
    collectives.push_back(what);
  }
  plan::Plan each_for_itself;
  each_for_itself.data = job.cluster->device_count();
  ReplicaPlan plan = replica_plan(job, plan::RankGrid(each_for_itself), false);
  if (plan.replicas.are_all_kept()) return std::nullopt;
  const std::unique_ptr<Communicator> group = whole_cluster(job, plan);
  const bool are_around_rings =
      std::all_of(collectives.begin(), collectives.end(),
                  [&](const Collective* what) { return is_around_rings(*group, *what); });
  if (!are_around_rings) return std::nullopt;
  return plan;
}

std::unique_ptr<Communicator> whole_cluster(const Job& job, const ReplicaPlan& plan) {
  const std::vector<fold::Replica> ring = plan.ring();
  const auto left_out = static_cast<int>(plan.replicas.count()) - static_cast<int>(ring.size());
  const collective::Layout layout{.host_of = {},
                                  .ranks_left_out = left_out,
                                  .hosts_left_out = left_out / plan.members_per_host};
  return std::make_unique<Communicator>(*job.cluster, profile_of(job, 0),
                                        std::vector<DeviceIndex>(ring.begin(), ring.end()), layout);
}

}  // namespace sim::training
