// What a rank of each stage does at least, in whole picoseconds.
#include "sim/training/lower_bound.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/plan/rank_grid.h"
#include "sim/plan/schedule.h"
#include "sim/training/costs.h"
#include "sim/training/rank_group.h"
#include "sim/training/rank_times.h"

namespace sim::training {

namespace {

RankGroups groups_of(const plan::Plan& plan, const plan::RankGrid& grid, int rank) {
  RankGroups groups;
  for (const auto& [group, degree] : {std::pair(dnn::RankGroup::tensor, plan.tensor),
                                      {dnn::RankGroup::context, plan.context},
                                      {dnn::RankGroup::expert, plan.expert},
                                      {dnn::RankGroup::expert_tensor, plan.expert_tensor}}) {
    if (degree > 1) groups[static_cast<std::size_t>(group)] = group_of(grid, group, rank);
  }
  return groups;
}

}  // namespace

class LowerBound::State {
 public:
  explicit State(const Job& job) : job_(job) {}
  std::int64_t of(const plan::Plan& plan);

 private:
  // Plans for which these are equal have the same operators.
  using Alike = std::tuple<int, int, std::int64_t, dnn::Recompute, bool, bool>;
  static Alike alike(const plan::Plan& plan) {
    return {plan.tensor,    plan.context,     plan.micro_batch,
            plan.recompute, plan.stages == 1, plan::splits_backward(plan)};
  }
  using RankKind = std::pair<std::string, int>;  // type of device, expert rank
  // Collectives take equally long for ranks whose groups lie alike.
  using GroupKinds = std::array<GroupPlaces, rank_group_count>;

  RankTimes& times_of(const plan::Plan& plan, const plan::RankGrid& grid, int rank);
  const JobCosts& costs_of(const plan::Plan& plan, int rank, const RankKind& kind);
  Picoseconds of_replica(const plan::Plan& plan, const plan::RankGrid& grid, int replica);

  const Job& job_;
  std::map<std::pair<Alike, RankKind>, JobCosts> costs_;
  std::map<std::tuple<Alike, RankKind, GroupKinds>, RankTimes> times_;
};

const JobCosts& LowerBound::State::costs_of(const plan::Plan& plan, int rank,
                                            const RankKind& kind) {
  const auto [entry, is_new] = costs_.try_emplace({alike(plan), kind});
  if (is_new) {
    Job job = job_;
    job.plan = plan;
    entry->second = job_costs(job, profile_of(job, rank), kind.second);
  }
  return entry->second;
}

RankTimes& LowerBound::State::times_of(const plan::Plan& plan, const plan::RankGrid& grid,
                                       int rank) {
  const RankGroups groups = groups_of(plan, grid, rank);
  GroupKinds places;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!groups[g].empty()) places[g] = places_of(*job_.cluster, groups[g]);
  }
  const RankKind kind(
      job_.cluster->device(rank).device_type,
      plan.routing.is_even() ? 0 : grid.coordinate(plan::ExpertDimension::expert, rank));
  std::tuple key(alike(plan), kind, std::move(places));
  const auto known = times_.find(key);
  if (known != times_.end()) return known->second;
  const JobCosts& costs = costs_of(plan, rank, kind);
  return times_.try_emplace(std::move(key), job_, costs, groups).first->second;
}

Picoseconds LowerBound::State::of_replica(const plan::Plan& plan, const plan::RankGrid& grid,
                                          int replica) {
  std::vector<RankTimes*> ranks;  // [stage]
  for (int stage = 0; stage < plan.stages; ++stage) {
    ranks.push_back(&times_of(plan, grid, grid.rank({0, 0, replica, stage})));
  }
  const auto sizes = layers_of_parts(job_, plan);
  std::vector<std::size_t> starts = {0};
  for (const int size : sizes) starts.push_back(starts.back() + static_cast<std::size_t>(size));
  const auto both_passes = [&](std::size_t rank, std::size_t p) {
    const PassTimes& times = ranks[rank]->of_part(starts[p], starts[p + 1]);
    return times.forward + times.backward;
  };
  const bool is_loop = plan.schedule == plan::ScheduleKind::gpipe ||
                       plan.schedule == plan::ScheduleKind::one_f_one_b ||
                       plan.schedule == plan::ScheduleKind::interleaved;
  Picoseconds most = 0, before = 0;
  if (!is_loop) {
    // Where the parts are differs; the stages together do all of them.
    const bool is_split = plan::splits_backward(plan);
    const std::set<RankTimes*> kinds(ranks.begin(), ranks.end());
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      Picoseconds least = INT64_MAX;
      for (RankTimes* rank : kinds) {
        const PassTimes& times = rank->of_part(starts[p], starts[p + 1]);
        least = std::min(least, times.forward + (is_split ? times.in_two : times.backward));
      }
      most += least;
    }
    return most * plan.micro_batches() / plan.stages;
  }
  for (std::size_t s = 0; s < ranks.size(); ++s) {
    Picoseconds own = 0;
    for (std::size_t p = s; p < sizes.size(); p += ranks.size()) own += both_passes(s, p);
    most = std::max(most, before + own * plan.micro_batches());
    before += both_passes(s, s);
  }
  return most;
}

// Where devices differ, one replica may be slower than another.
std::int64_t LowerBound::State::of(const plan::Plan& plan) {
  const bool is_drawn =
      plan.routing.draw == plan::Routing::Draw::per_micro_batch || !plan.routing.are_groups_alike;
  const bool is_varied = !plan.cuts.empty() || is_drawn || job_.jitter.is_on() ||
                         !job_.disturbances.empty() || plan.packing;
  if (is_varied || !plan::flushes(plan)) return 0;
  const plan::RankGrid grid(plan);
  const Picoseconds first = of_replica(plan, grid, 0);
  if (job_.profiles.size() == 1) return first;
  return std::max(first, of_replica(plan, grid, plan.data - 1));
}

LowerBound::LowerBound(const Job& job) : state_(std::make_unique<State>(job)) {}
LowerBound::~LowerBound() = default;
std::int64_t LowerBound::of(const plan::Plan& plan) { return state_->of(plan); }

}  // namespace sim::training
