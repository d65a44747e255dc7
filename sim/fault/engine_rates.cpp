// A state as a job and a cluster of its own.
#include "sim/fault/engine_rates.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/training/simulate.h"
#include "topology/cluster.h"

namespace sim::fault {
namespace {

topology::Description with_traffic(topology::Description cluster, BytesPerSecond per_nic) {
  for (topology::HostGroup& group : cluster.hosts) {
    const BytesPerSecond port = cluster.fabric.link, nic = group.type.nic;
    group.type.nic = (port.value() > 0 ? std::min(port, nic) : nic) - per_nic;
  }
  return cluster;
}

double rate_of(const training::Result& result) {
  return result.samples_per_iteration / (static_cast<double>(result.iteration_ps()) * 1e-12);
}

}  // namespace

double samples_per_second(const EngineJob& what, const ClusterState& state) {
  training::Job job = *what.job;
  const BytesPerSecond writing = what.writing_per_nic[static_cast<std::size_t>(state.writing)];
  const bool has_traffic = writing.value() > 0;
  if (state.replicas == job.plan.data && !has_traffic) return rate_of(*what.whole);
  // Where the batch stays and does not divide, those with one micro-batch more set the pace.
  const auto whole_batch = static_cast<double>(job.plan.global_batch);
  const int sharing = state.keeps_batch ? state.replicas : job.plan.data;
  const std::int64_t micro_batches = job.plan.global_batch / job.plan.micro_batch;
  const std::int64_t of_one = (micro_batches + sharing - 1) / sharing * job.plan.micro_batch;
  job.plan.data = state.replicas;
  job.plan.global_batch = of_one * state.replicas;
  topology::Description description = *what.cluster;
  if (has_traffic) description = with_traffic(description, writing);
  const topology::Cluster cluster(description);
  job.cluster = &cluster;
  const auto outcome = training::simulate(job);
  const auto* result = std::get_if<training::Result>(&outcome);
  if (!result) {
    throw StateCannotRun(
        fmt::format("with {} data-parallel replicas the job cannot be simulated: "
                    "too many ranks differ, or they wait for each other",
                    state.replicas));
  }
  if (!result->fits && what.whole->fits) {
    throw StateCannotRun(fmt::format(
        "with {} data-parallel replicas the job does not fit into memory", state.replicas));
  }
  if (state.keeps_batch) return whole_batch / (static_cast<double>(result->iteration_ps()) * 1e-12);
  return rate_of(*result);
}

}  // namespace sim::fault
