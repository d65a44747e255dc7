// The stages of the shorter pipeline get their layers, then all pipelines their micro-batches.
#include "sim/fault/shorter_replica.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/plan/rank_grid.h"
#include "sim/plan/uneven_split.h"
#include "sim/training/costs.h"
#include "sim/training/stage_costs.h"

namespace sim::fault {
namespace {

using plan::Replica;

std::vector<Replica> whole_replicas(const training::Job& job, int replicas) {
  plan::Plan plan = job.plan;
  plan.data = replicas;
  const plan::RankGrid grid(plan);
  Replica one;
  one.layers = training::layers_of_parts(job);
  one.tensor.assign(one.layers.size(), plan.tensor);
  std::vector<Replica> result(static_cast<std::size_t>(replicas), one);
  for (int r = 0; r < replicas; ++r) {
    for (int stage = 0; stage < plan.stages; ++stage) {
      auto& devices = result[static_cast<std::size_t>(r)].devices;
      const auto group = grid.group(plan::Dimension::tensor, grid.rank({0, 0, r, stage}));
      devices.insert(devices.end(), group.begin(), group.end());
    }
  }
  return result;
}

std::vector<plan::StageSpeed> stage_speeds(const training::Job& job,
                                           const training::StageCosts& costs, int stages) {
  std::vector<plan::StageSpeed> speeds;
  for (int s = 0; s < stages; ++s) {
    speeds.push_back(
        {.rate = 1,
         .layers_max = costs.layers_max(s, stages, job.plan.tensor),
         .extra = costs.ends.at(static_cast<std::size_t>(s), static_cast<std::size_t>(stages))});
  }
  return speeds;
}

}  // namespace

std::optional<plan::Plan> with_shorter_replica(const training::Job& job, int replicas,
                                               int devices) {
  const int tensor = job.plan.tensor, stages = devices / tensor;
  const training::StageCosts costs = training::stage_costs(job);
  const auto layers = training::layers_of_parts(job);
  const auto own = stage_speeds(job, costs, stages);
  const auto split = plan::split_layers(std::accumulate(layers.begin(), layers.end(), 0), own);
  if (!split) return std::nullopt;
  std::vector<Replica> all = whole_replicas(job, replicas);
  std::vector<plan::PipelineSpeed> speeds(all.size(), training::pipeline_speed(job, costs));
  speeds.push_back(plan::pipeline_speed(own, split->layers));
  const int micro_batches = job.plan.micro_batches() * job.plan.data;
  const auto batches = plan::split_micro_batches(micro_batches, speeds);
  if (!batches) return std::nullopt;
  Replica& shorter = all.emplace_back();
  shorter.layers = split->layers;
  shorter.tensor.assign(split->layers.size(), tensor);
  shorter.devices.resize(split->layers.size() * static_cast<std::size_t>(tensor));
  std::iota(shorter.devices.begin(), shorter.devices.end(), replicas * tensor * job.plan.stages);
  for (std::size_t r = 0; r < all.size(); ++r) all[r].micro_batches = batches->micro_batches[r];
  plan::Plan plan = job.plan;
  plan::set_replicas(plan, std::move(all));
  return plan;
}

}  // namespace sim::fault
