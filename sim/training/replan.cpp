// Times of layers and memory of stages for the planner; its plans for the simulator.
#include "sim/training/replan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/plan/rank_grid.h"
#include "sim/training/costs.h"
#include "sim/training/layer_times.h"
#include "sim/training/stage_costs.h"

namespace sim::training {

namespace {

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

plan::UnevenJob uneven_job(const Job& job, const StageCosts& costs,
                           const std::vector<double>& slowdowns,
                           const std::vector<std::vector<std::vector<int>>>& devices) {
  plan::UnevenJob result;
  result.penalties = costs.penalties;
  result.layers_max = costs.layers_max;
  result.fills = true;
  result.ends = costs.ends;
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
  return result;
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
  const std::vector<int> group = plan::RankGrid(job.plan).group(plan::Dimension::tensor, 0);
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

std::int64_t Replan::iterations_to_pay() const {
  const Picoseconds saved = slow - tried[*best].iteration;
  return (moving->time + saved - 1) / saved;
}

std::variant<Replan, Stuck, TooLarge> replan(const Job& job) {
  Replan result;
  const auto devices = devices_of(job.plan);
  const StageCosts costs = stage_costs(job);
  const std::vector<double> none(static_cast<std::size_t>(job.plan.ranks()), 1);
  const auto even = plan::best_uneven_split(uneven_job(job, costs, none, devices));
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
  const plan::UnevenJob uneven = uneven_job(job, costs, result.slowdowns, devices);
  const plan::PipelineSpeed as_it_is = pipeline_speed(job, costs);
  const double now = as_it_is.slowest * (job.plan.micro_batches() + as_it_is.fill);
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
  if (result.best) result.moving = moving(job, result.tried[*result.best].plan);
  return result;
}

}  // namespace sim::training
