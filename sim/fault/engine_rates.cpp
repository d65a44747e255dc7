// A state as a job and a cluster of its own.
#include "sim/fault/engine_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/fault/shorter_replica.h"
#include "sim/training/simulate.h"
#include "topology/cluster.h"

namespace sim::fault {
namespace {

BytesPerSecond writing_of(const EngineJob& what, const ClusterState& state) {
  return what.writing_per_nic[static_cast<std::size_t>(state.writing)] * (state.percent / 100.0);
}

topology::Description with_traffic(topology::Description cluster, BytesPerSecond per_nic,
                                   bool leaves_group) {
  for (topology::HostGroup& group : cluster.hosts) {
    const BytesPerSecond port = cluster.fabric.link, nic = group.type.nic;
    group.type.nic = (port.value() > 0 ? std::min(port, nic) : nic) - per_nic;
  }
  // Where a leaf has as much up as down, its NICs are the narrower ones with this as without.
  if (leaves_group && cluster.fabric.oversubscription > 1) cluster.fabric.taken = per_nic;
  return cluster;
}

double rate_of(const training::Result& result) {
  return result.samples_per_iteration / (static_cast<double>(result.iteration_ps()) * 1e-12);
}

// Fewer replicas, each cut as it was.
plan::Plan with_fewer_replicas(const plan::Plan& whole, const ClusterState& state) {
  plan::Plan plan = whole;
  if (state.replicas == plan.data) return plan;
  // Where the batch stays and does not divide, those with one micro-batch more set the pace.
  const int sharing = state.keeps_batch ? state.replicas : plan.data;
  const std::int64_t micro_batches = plan.global_batch / plan.micro_batch;
  const std::int64_t of_one = (micro_batches + sharing - 1) / sharing * plan.micro_batch;
  plan.data = state.replicas;
  plan.global_batch = of_one * state.replicas;
  return plan;
}

double rate_with(const EngineJob& what, const ClusterState& state, const plan::Plan& plan) {
  training::Job job = *what.job;
  job.plan = plan;
  topology::Description description = *what.cluster;
  const BytesPerSecond writing = writing_of(what, state);
  if (writing.value() > 0) {
    const bool leaves = what.leaves_group[static_cast<std::size_t>(state.writing)];
    description = with_traffic(description, writing, leaves);
  }
  const topology::Cluster cluster(description);
  job.cluster = &cluster;
  const auto outcome = training::simulate(job);
  const auto* result = std::get_if<training::Result>(&outcome);
  if (!result) {
    throw StateCannotRun(
        fmt::format("with {} data-parallel replicas the job cannot be simulated: "
                    "too many ranks differ, or they wait for each other",
                    plan.data));
  }
  if (!result->fits && what.whole->fits) {
    throw StateCannotRun(
        fmt::format("with {} data-parallel replicas the job does not fit into memory", plan.data));
  }
  const auto whole_batch = static_cast<double>(what.job->plan.global_batch);
  if (state.keeps_batch) return whole_batch / (static_cast<double>(result->iteration_ps()) * 1e-12);
  return rate_of(*result);
}

// None: the part cannot run.
std::optional<double> rate_with_part(const EngineJob& what, const ClusterState& state) {
  const int devices = state.part * what.cluster->hosts.front().type.devices;
  const auto plan = with_shorter_replica(*what.job, state.replicas, devices);
  if (!plan) return std::nullopt;
  try {
    return rate_with(what, state, *plan);
  } catch (const StateCannotRun&) {
    return std::nullopt;
  }
}

}  // namespace

double samples_per_second(const EngineJob& what, const ClusterState& state) {
  const bool has_traffic = writing_of(what, state).value() > 0;
  const plan::Plan& whole = what.job->plan;
  if (state.replicas == whole.data && !has_traffic) return rate_of(*what.whole);
  std::optional<double> with_part;
  if (state.part > 0) with_part = rate_with_part(what, state);
  try {
    return std::max(rate_with(what, state, with_fewer_replicas(whole, state)),
                    with_part.value_or(0));
  } catch (const StateCannotRun&) {
    if (with_part) return *with_part;
    throw;
  }
}

}  // namespace sim::fault
