// From the strides of the rank grid and the blocks of the cluster to blocks of replicas.
#include "sim/training/replica_plan.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sim/training/replica_marks.h"
#include "sim/training/uneven_plan.h"

namespace sim::training {

using fold::Replica;

namespace {

// How the ranks of a replica lie among parts of so many devices.
enum class Fit { each_in_its_own, blocks, all_in_one, none };

class Planner {
 public:
  Planner(const Job& job, const plan::RankGrid& grid)
      : job_(job),
        cluster_(*job.cluster),
        geometry_(grid),
        stride_(geometry_.stride),
        count_(geometry_.count) {}

  std::optional<ReplicaPlan> run();

 private:
  Fit fit(std::int64_t part) const;
  bool hosts_are_exchangeable(const topology::Blocks& blocks) const;
  bool add_tier(std::size_t tier, std::int64_t part);

  const Job& job_;
  const topology::Cluster& cluster_;
  const ReplicaGeometry geometry_;
  const std::int64_t stride_, count_;
  Replica unit_ = 1;
  std::vector<Replica> blocks_;
  ReplicaPlan plan_;
};

Fit Planner::fit(std::int64_t part) const {
  const std::int64_t span = geometry_.span();
  if (stride_ % part == 0) return Fit::each_in_its_own;
  if (part % span == 0) return Fit::all_in_one;
  const bool is_topmost = geometry_.runs() == 1;
  if (part % stride_ == 0 && (span % part == 0 || is_topmost)) return Fit::blocks;
  return Fit::none;
}

// Inside a host with several members of a data group, neighbours in a ring go one way in every
// other host; only a crossbar does not see which.
bool Planner::hosts_are_exchangeable(const topology::Blocks& blocks) const {
  const int members = plan_.members_per_host;
  const std::int64_t hosts = count_ / members;
  if (members == 2 && hosts % 2 == 1) return false;
  return has_crossbars(cluster_) || (members == 1 && blocks.domain == blocks.host);
}

bool Planner::add_tier(std::size_t tier, std::int64_t part) {
  if (part == 0) return true;
  switch (fit(part)) {
    case Fit::each_in_its_own:
      return true;
    case Fit::all_in_one:
      plan_.level_of_tier[tier] = SIZE_MAX;  // the last level, when all are known
      return true;
    case Fit::none:
      return false;
    case Fit::blocks:
      break;
  }
  const Replica block = part / stride_;
  const Replica below = blocks_.empty() ? unit_ : blocks_.back();
  if (block % below != 0) return false;
  blocks_.push_back(block);
  plan_.level_of_tier[tier] = blocks_.size();
  plan_.block_of_tier[tier] = block;
  return true;
}

std::optional<ReplicaPlan> Planner::run() {
  const std::optional<topology::Blocks> blocks = cluster_.blocks();
  if (!blocks || count_ < 4) return std::nullopt;
  for (const std::int64_t part : {blocks->host, blocks->domain}) {
    const Fit how = fit(part);
    if (how == Fit::none || how == Fit::all_in_one) return std::nullopt;
    if (how == Fit::blocks) unit_ = std::max(unit_, part / stride_);
  }
  if (blocks->domain % blocks->host != 0 || count_ % unit_ != 0) return std::nullopt;
  plan_.members_per_host = static_cast<int>(std::max<std::int64_t>(blocks->host / stride_, 1));
  if (!hosts_are_exchangeable(*blocks)) return std::nullopt;
  if (!add_tier(1, blocks->group) || !add_tier(2, blocks->pod)) return std::nullopt;
  ReplicaMarks marks(job_, geometry_, *blocks);
  marks.add_types();
  plan_.is_sample = job_.jitter.is_on();
  if (plan_.is_sample && !marks.add_sample()) return std::nullopt;
  marks.add_disturbances();
  plan_.disturbed = marks.disturbed();
  plan_.replicas = fold::Replicas(count_, unit_, blocks_, marks.marks());
  for (std::size_t& level : plan_.level_of_tier) {
    if (level == SIZE_MAX) level = plan_.replicas.levels();
  }
  if (!is_worth_it(plan_)) return std::nullopt;
  return std::move(plan_);
}

}  // namespace

std::vector<Replica> ReplicaPlan::ring() const {
  std::vector<Replica> members(replicas.kept().begin(), replicas.kept().end());
  members.insert(members.end(), replicas.neighbours().begin(), replicas.neighbours().end());
  std::sort(members.begin(), members.end());
  // Rings over hosts with two members each need an even number of hosts.
  const auto listed = static_cast<std::int64_t>(members.size());
  if (members_per_host == 2 && listed % 4 == 2 && listed < replicas.count()) {
    Replica host = 0;
    while (std::binary_search(members.begin(), members.end(), host)) host += 2;
    members.insert(members.end(), {host, host + 1});
    std::sort(members.begin(), members.end());
  }
  return members;
}

std::int64_t ReplicaPlan::alike(std::size_t tier, Replica replica) const {
  const std::size_t level = level_of_tier[tier], all = replicas.levels();
  if (level == all) return 1;
  const auto kept = replicas.kept();
  const auto found = std::lower_bound(kept.begin(), kept.end(), replica);
  const Replica end = replica + (level == 0 ? 1 : block_of_tier[tier]);
  if (found == kept.end() || *found >= end) return 0;
  const auto index = static_cast<std::size_t>(found - kept.begin());
  return replicas.size(index, all) / replicas.size(index, level);
}

// A sample is what the user asks for; a few replicas less than all are not worth one.
bool is_worth_it(const ReplicaPlan& plan) {
  const double share_max = plan.is_sample ? 0.8 : 0.5;
  const auto kept = static_cast<double>(plan.replicas.kept_count());
  return kept <= share_max * static_cast<double>(plan.replicas.count());
}

ReplicaPlan replica_plan(const Job& job, const plan::RankGrid& grid, bool may_be_uneven) {
  if (job.folds) {
    if (auto plan = Planner(job, grid).run()) return std::move(*plan);
    if (may_be_uneven) {
      if (auto plan = uneven_plan(job, grid)) return std::move(*plan);
    }
  }
  ReplicaPlan plan;
  plan.replicas = fold::Replicas::all(grid.extent(plan::Dimension::data));
  return plan;
}

}  // namespace sim::training
