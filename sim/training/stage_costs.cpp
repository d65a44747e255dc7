// Times from the cost model, memory by search over what the memory model says.
#include "sim/training/stage_costs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "sim/plan/memory.h"
#include "sim/plan/rank_grid.h"
#include "sim/training/costs.h"
#include "sim/training/layer_times.h"

namespace sim::training {

namespace {

// Layers that a stage holds, from what the memory model says of it.
class Holding {
 public:
  explicit Holding(const Job& job)
      : job_(job), capacity_(profile_of(job, 0).device().memory.value()) {}

  int operator()(int stage, int stages, int tensor) {
    const auto [entry, is_new] = known_.try_emplace({stage, stages, tensor}, 0);
    if (is_new) entry->second = most(stage, stages, tensor);
    return entry->second;
  }

 private:
  int most(int stage, int stages, int tensor) const {
    const auto layers = static_cast<int>(layers_of_job());
    const auto* dnn = std::get_if<dnn::Transformer>(&job_.dnn);
    if (!dnn) return layers;
    int least = 0, beyond = layers - (stages - 1) + 1;  // each other stage has one
    if (stages == 1) least = layers - 1;
    while (least + 1 < beyond) {
      const int middle = (least + beyond) / 2;
      (holds(*dnn, stage, stages, tensor, middle) ? least : beyond) = middle;
    }
    return stages == 1 && least < layers ? 0 : least;
  }

  bool holds(const dnn::Transformer& dnn, int stage, int stages, int tensor, int layers) const {
    plan::Plan plan = job_.plan;
    plan.tensor = tensor;
    plan.stages = stages;
    // Others have some layers; of how many, this stage's memory does not depend.
    plan.layers.assign(static_cast<std::size_t>(stages), 1);
    const int rest = static_cast<int>(dnn.layers) - layers - (stages - 1);
    plan.layers[static_cast<std::size_t>(stage == 0 ? stages - 1 : 0)] += rest;
    plan.layers[static_cast<std::size_t>(stage)] = layers;
    // A replica that others leave work to has more micro-batches than the mean.
    const int micro_batches = std::max(plan.micro_batches() + 1, stages);
    plan.global_batch = plan.micro_batch * plan.data * micro_batches;
    return plan::memory(plan, dnn, job_.stack, stage).peak().value() <= capacity_;
  }

  std::size_t layers_of_job() const {
    const auto parts = layers_of_parts(job_);
    return static_cast<std::size_t>(std::accumulate(parts.begin(), parts.end(), 0));
  }

  const Job& job_;
  double capacity_;
  std::map<std::tuple<int, int, int>, int> known_;
};

}  // namespace

StageCosts stage_costs(const Job& job) {
  StageCosts result;
  const auto group = plan::RankGrid(job.plan).group(plan::Dimension::tensor, 0);
  const LayerTimes full = layer_times(job, group);
  for (std::size_t degree = group.size(); degree > 0; degree /= 2) {
    const LayerTimes part =
        layer_times(job, {group.begin(), group.begin() + static_cast<std::ptrdiff_t>(degree)});
    result.penalties.push_back(part.layer / full.layer);
  }
  result.ends = {full.first / full.layer, full.last / full.layer};
  result.layers_max = [holding = Holding(job)](int stage, int stages, int tensor) mutable {
    return holding(stage, stages, tensor);
  };
  return result;
}

plan::PipelineSpeed pipeline_speed(const Job& job, const StageCosts& costs) {
  const auto parts = layers_of_parts(job);
  std::vector<plan::StageSpeed> stages;
  for (std::size_t s = 0; s < parts.size(); ++s) {
    stages.push_back({.rate = 1, .layers_max = parts[s], .extra = costs.ends.at(s, parts.size())});
  }
  return plan::pipeline_speed(stages, parts);
}

}  // namespace sim::training
