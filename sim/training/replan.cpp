// Times of layers and memory of stages for the planner; its plans for the simulator.
#include "sim/training/replan.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/base/invariant.h"
#include "sim/plan/memory.h"
#include "sim/plan/rank_grid.h"
#include "sim/training/costs.h"
#include "sim/training/layer_times.h"

namespace sim::training {

namespace {

std::vector<int> tensor_group(const Job& job) {
  return plan::RankGrid(job.plan).group(plan::Dimension::tensor, 0);
}

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

// [replica][stage][device of its tensor group] the devices of a plan whose replicas are alike.
std::vector<std::vector<std::vector<int>>> devices_of(const plan::Plan& plan) {
  const plan::RankGrid grid(plan);
  std::vector<std::vector<std::vector<int>>> result;
  for (int replica = 0; replica < plan.data; ++replica) {
    auto& stages = result.emplace_back();
    for (int stage = 0; stage < plan.stages; ++stage) {
      stages.push_back(grid.group(plan::Dimension::tensor, grid.rank({0, 0, replica, stage})));
    }
  }
  return result;
}

plan::UnevenJob uneven_job(const Job& job, const std::vector<double>& slowdowns,
                           const std::vector<std::vector<std::vector<int>>>& devices) {
  plan::UnevenJob result;
  const std::vector<int> group = tensor_group(job);
  const LayerTimes full = layer_times(job, group);
  for (std::size_t degree = group.size(); degree > 0; degree /= 2) {
    const LayerTimes part =
        layer_times(job, {group.begin(), group.begin() + std::ptrdiff_t(degree)});
    result.penalties.push_back(part.layer / full.layer);
  }
  result.first_extra = full.first / full.layer;
  result.last_extra = full.last / full.layer;
  for (const auto& replica : devices) {
    auto& stages = result.slowdowns.emplace_back();
    for (const auto& members : replica) {
      auto& of_group = stages.emplace_back();
      for (const int device : members) {
        of_group.push_back(slowdowns[static_cast<std::size_t>(device)]);
      }
    }
  }
  const auto parts = layers_of_parts(job);
  result.layers = std::accumulate(parts.begin(), parts.end(), 0);
  result.micro_batches = job.plan.micro_batches() * job.plan.data;
  result.layers_max = [holding = Holding(job)](int stage, int stages, int tensor) mutable {
    return holding(stage, stages, tensor);
  };
  return result;
}

// What the planner's measure is of the plan as it is, without stragglers.
double longest_now(const Job& job, const plan::UnevenJob& uneven) {
  double slowest = 0;
  const auto parts = layers_of_parts(job);
  for (std::size_t s = 0; s < parts.size(); ++s) {
    const double extra =
        (s == 0 ? uneven.first_extra : 0) + (s + 1 == parts.size() ? uneven.last_extra : 0);
    slowest = std::max(slowest, parts[s] + extra);
  }
  return slowest * job.plan.micro_batches();
}

plan::Plan plan_of(const Job& job, const plan::Replanning& replanning,
                   const std::vector<std::vector<std::vector<int>>>& devices) {
  std::vector<plan::Replica> replicas;
  for (std::size_t r = 0; r < replanning.devices.size(); ++r) {
    plan::Replica& replica = replicas.emplace_back();
    replica.layers = replanning.split.layers[r];
    replica.micro_batches = replanning.split.micro_batches[r];
    for (const auto& stage : replanning.devices[r]) {
      replica.tensor.push_back(static_cast<int>(stage.size()));
      for (const plan::DevicePlace& place : stage) {
        replica.devices.push_back(devices[r][static_cast<std::size_t>(place.stage)]
                                         [static_cast<std::size_t>(place.index)]);
      }
    }
  }
  plan::Plan plan = job.plan;
  plan::set_replicas(plan, std::move(replicas));
  return plan;
}

std::variant<Result, Stuck, TooLarge> run(Job job, const plan::Plan& plan, bool is_healthy) {
  job.plan = plan;
  if (is_healthy) job.disturbances.clear();
  return simulate(job);
}

void choose(Replan& replan) {
  Picoseconds least = replan.slow;
  for (std::size_t i = 0; i < replan.tried.size(); ++i) {
    const PlannedAnew& one = replan.tried[i];
    if (!one.fits || one.iteration >= least) continue;
    least = one.iteration;
    replan.best = i;
  }
}

}  // namespace

std::vector<double> slowdowns(const Job& job) {
  std::map<int, Shares> slow;
  for (const Disturbance& d : job.disturbances) {
    if (d.kind == Disturbance::Kind::compute) slow[d.index].compute *= d.factor;
    if (d.kind == Disturbance::Kind::memory) slow[d.index].memory *= d.factor;
  }
  std::vector<double> result(static_cast<std::size_t>(job.plan.ranks()), 1);
  const std::vector<int> group = tensor_group(job);
  const Seconds healthy = layer_times(job, group).layer;
  std::map<std::pair<double, double>, double> known;
  for (const auto& [device, shares] : slow) {
    if (static_cast<std::size_t>(device) >= result.size()) continue;
    const auto [entry, is_new] = known.try_emplace({shares.compute, shares.memory}, 1);
    if (is_new) entry->second = layer_times(job, group, shares).layer / healthy;
    result[static_cast<std::size_t>(device)] = entry->second;
  }
  return result;
}

Picoseconds Replan::ideal() const {
  double speed = 0;
  for (const double slowdown : slowdowns) speed += 1 / slowdown;
  return to_picoseconds(to_seconds(std::min(healthy, even)) *
                        (static_cast<double>(slowdowns.size()) / speed));
}

double Replan::won_back() const {
  if (!best || slow <= healthy) return 0;
  return static_cast<double>(slow - tried[*best].iteration) / static_cast<double>(slow - healthy);
}

std::variant<Replan, Stuck, TooLarge> replan(const Job& job) {
  Replan result;
  const auto devices = devices_of(job.plan);
  const std::vector<double> none(static_cast<std::size_t>(job.plan.ranks()), 1);
  const auto even = plan::best_uneven_split(uneven_job(job, none, devices));
  const plan::Plan even_plan = even ? plan_of(job, *even, devices) : job.plan;
  for (const auto& [time, plan, is_healthy] : {std::tuple(&result.healthy, &job.plan, true),
                                               {&result.slow, &job.plan, false},
                                               {&result.even, &even_plan, true}}) {
    auto outcome = run(job, *plan, is_healthy);
    if (auto* stuck = std::get_if<Stuck>(&outcome)) return std::move(*stuck);
    if (auto* large = std::get_if<TooLarge>(&outcome)) return *large;
    *time = std::get<Result>(outcome).iteration_ps();
    if (plan == &job.plan) result.fits = std::get<Result>(outcome).fits;
  }
  result.slowdowns = slowdowns(job);
  const plan::UnevenJob uneven = uneven_job(job, result.slowdowns, devices);
  const double now = longest_now(job, uneven);
  for (plan::Replanning& replanning : plan::uneven_splits(uneven)) {
    PlannedAnew one;
    one.plan = plan_of(job, replanning, devices);
    const auto outcome = run(job, one.plan, false);
    if (const auto* large = std::get_if<TooLarge>(&outcome)) return *large;
    const auto* simulated = std::get_if<Result>(&outcome);
    if (!simulated) continue;
    one.iteration = simulated->iteration_ps();
    one.fits = simulated->fits;
    one.fingerprint = simulated->fingerprint;
    one.estimate = to_picoseconds(to_seconds(result.healthy) * (replanning.split.longest / now));
    one.replanning = std::move(replanning);
    result.tried.push_back(std::move(one));
  }
  choose(result);
  return result;
}

}  // namespace sim::training
