// What a rank of each stage does at least, in whole picoseconds.
#include "sim/training/lower_bound.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "calibrate/profile/remembering.h"
#include "sim/plan/rank_grid.h"
#include "sim/plan/schedule.h"
#include "sim/training/costs.h"
#include "sim/training/rank_group.h"
#include "sim/training/rank_times.h"

namespace sim::training {

class LowerBound::State {
 public:
  explicit State(const Job& job) : job_(job) {}
  std::int64_t of(const plan::Plan& plan);

 private:
  using Profile = calibrate::profile::Profile;
  // Plans for which these are equal have the same operators.
  using Alike = std::tuple<int, int, std::int64_t, dnn::Recompute, bool, bool>;
  static Alike alike(const plan::Plan& plan) {
    return {plan.tensor,    plan.context,     plan.micro_batch,
            plan.recompute, plan.stages == 1, plan::splits_backward(plan)};
  }
  using RankKind = std::pair<std::string, int>;  // type of device, expert rank
  // Which ranks a stage has, for all plans that deal the devices alike.
  struct Stage {
    RankKind kind;
    RankTimes::Communicators communicators = {};
    auto operator<=>(const Stage&) const = default;
  };
  // Tensor, context, expert, expert-tensor, stages, data, which replica; and in which order.
  using Dealing = std::tuple<std::array<int, 7>, decltype(plan::Plan::order),
                             decltype(plan::Plan::expert_order)>;

  const std::vector<const Stage*>& stages_of(const plan::Plan& plan, int replica);
  const Stage* stage_of(const plan::Plan& plan, const plan::RankGrid& grid, int rank);
  RankTimes& times_of(const plan::Plan& plan, const Stage* stage);
  const Communicator* communicator(const std::vector<int>& ranks);
  Picoseconds of_replica(const plan::Plan& plan, int replica);
  Picoseconds in_any_order(const plan::Plan& plan, const std::vector<RankTimes*>& ranks,
                           const std::vector<std::size_t>& starts);

  const Job& job_;
  std::map<std::string, calibrate::profile::RememberingProfile> profiles_;  // by type of device
  std::map<GroupPlaces, std::unique_ptr<Communicator>> communicators_;
  std::set<Stage> kinds_of_stages_;
  std::map<Dealing, std::vector<const Stage*>> dealings_;
  std::map<std::pair<Alike, RankKind>, JobCosts> costs_;
  std::map<std::pair<Alike, const Stage*>, RankTimes> times_;
};

// Groups that lie alike are on the same types of devices, so one stands for all.
const Communicator* LowerBound::State::communicator(const std::vector<int>& ranks) {
  auto& known = communicators_[places_of(*job_.cluster, ranks)];
  if (!known) known = communicator_of(job_, ranks);
  return known.get();
}

const LowerBound::State::Stage* LowerBound::State::stage_of(const plan::Plan& plan,
                                                            const plan::RankGrid& grid, int rank) {
  Stage stage;
  stage.kind.first = job_.cluster->device(rank).device_type;
  if (!plan.routing.is_even()) {
    stage.kind.second = grid.coordinate(plan::ExpertDimension::expert, rank);
  }
  for (const auto& [group, degree] : {std::pair(dnn::RankGroup::tensor, plan.tensor),
                                      {dnn::RankGroup::context, plan.context},
                                      {dnn::RankGroup::expert, plan.expert},
                                      {dnn::RankGroup::expert_tensor, plan.expert_tensor}}) {
    if (degree == 1) continue;
    stage.communicators[static_cast<std::size_t>(group)] =
        communicator(group_of(grid, group, rank));
  }
  return &*kinds_of_stages_.insert(std::move(stage)).first;
}

const std::vector<const LowerBound::State::Stage*>& LowerBound::State::stages_of(
    const plan::Plan& plan, int replica) {
  const std::array degrees = {plan.tensor, plan.context, plan.expert, plan.expert_tensor,
                              plan.stages, plan.data,    replica};
  const Dealing dealing(degrees, plan.order, plan.expert_order);
  const auto [entry, is_new] = dealings_.try_emplace(dealing);
  if (is_new) {
    const plan::RankGrid grid(plan);
    for (int stage = 0; stage < plan.stages; ++stage) {
      entry->second.push_back(stage_of(plan, grid, grid.rank({0, 0, replica, stage})));
    }
  }
  return entry->second;
}

RankTimes& LowerBound::State::times_of(const plan::Plan& plan, const Stage* stage) {
  const auto known = times_.find({alike(plan), stage});
  if (known != times_.end()) return known->second;
  const auto [costs, is_new] = costs_.try_emplace({alike(plan), stage->kind});
  if (is_new) {
    const auto& profile = *job_.profiles.at(stage->kind.first);
    Job job = job_;
    job.plan = plan;
    costs->second = job_costs(job, profiles_.try_emplace(stage->kind.first, profile).first->second,
                              stage->kind.second);
  }
  return times_.try_emplace({alike(plan), stage}, costs->second, stage->communicators)
      .first->second;
}

// Where the parts are differs; the stages together do all of them.
Picoseconds LowerBound::State::in_any_order(const plan::Plan& plan,
                                            const std::vector<RankTimes*>& ranks,
                                            const std::vector<std::size_t>& starts) {
  const bool is_split = plan::splits_backward(plan);
  const std::set<RankTimes*> kinds(ranks.begin(), ranks.end());
  Picoseconds most = 0;
  for (std::size_t p = 0; p + 1 < starts.size(); ++p) {
    Picoseconds least = INT64_MAX;
    for (RankTimes* rank : kinds) {
      const PassTimes times = rank->of_part(starts[p], starts[p + 1]);
      least = std::min(least, times.forward + (is_split ? times.in_two : times.backward));
    }
    most += least;
  }
  return most * plan.micro_batches() / plan.stages;
}

Picoseconds LowerBound::State::of_replica(const plan::Plan& plan, int replica) {
  std::vector<RankTimes*> ranks;  // [stage]
  const Stage* last = nullptr;
  for (const Stage* stage : stages_of(plan, replica)) {
    ranks.push_back(stage == last ? ranks.back() : &times_of(plan, stage));
    last = stage;
  }
  const auto sizes = layers_of_parts(job_, plan);
  std::vector<std::size_t> starts = {0};
  for (const int size : sizes) starts.push_back(starts.back() + static_cast<std::size_t>(size));
  const bool is_loop = plan.schedule == plan::ScheduleKind::gpipe ||
                       plan.schedule == plan::ScheduleKind::one_f_one_b ||
                       plan.schedule == plan::ScheduleKind::interleaved;
  if (!is_loop) return in_any_order(plan, ranks, starts);
  const auto both_passes = [&](std::size_t rank, std::size_t p) {
    const PassTimes times = ranks[rank]->of_part(starts[p], starts[p + 1]);
    return times.forward + times.backward;
  };
  Picoseconds most = 0, before = 0;
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
  const Picoseconds first = of_replica(plan, 0);
  if (job_.profiles.size() == 1) return first;
  return std::max(first, of_replica(plan, plan.data - 1));
}

LowerBound::LowerBound(const Job& job) : state_(std::make_unique<State>(job)) {}
LowerBound::~LowerBound() = default;
std::int64_t LowerBound::of(const plan::Plan& plan) { return state_->of(plan); }

}  // namespace sim::training
