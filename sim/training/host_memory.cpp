// Host after host, those that hold ranks.
#include "sim/training/host_memory.h"

#include "sim/base/invariant.h"
#include "sim/plan/rank_grid.h"

namespace sim::training {

std::optional<HostMemory> fullest_host(const Job& job,
                                       std::span<const plan::MemoryBreakdown> stages) {
  if (!job.plan.offload.is_on()) return std::nullopt;
  const plan::RankGrid grid(job.plan);
  std::optional<HostMemory> fullest;
  double most = -1;
  for (int first = 0; first < grid.ranks();) {
    const topology::HostIndex host = job.cluster->device(first).host;
    const topology::HostType* type = job.cluster->host_type(host);
    invariant(type && type->memory.value() > 0, "a host does not state its memory");
    HostMemory one;
    one.capacity = type->memory;
    int rank = first;
    for (; rank < grid.ranks() && job.cluster->device(rank).host == host; ++rank, ++one.ranks) {
      const auto stage = static_cast<std::size_t>(grid.coordinates(rank).pipeline);
      const plan::HostBytes& of_rank = stages[stage].host;
      one.used.optimizer += of_rank.optimizer;
      one.used.gradients += of_rank.gradients;
      one.used.parameters += of_rank.parameters;
      one.used.activations += of_rank.activations;
    }
    first = rank;
    const double filled = one.used.total() / one.capacity;
    if (filled <= most) continue;
    most = filled;
    one.host = job.cluster->host_name(host);
    fullest = std::move(one);
  }
  return fullest;
}

}  // namespace sim::training
