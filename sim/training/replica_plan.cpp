// From the strides of the rank grid and the blocks of the cluster to blocks of replicas.
#include "sim/training/replica_plan.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace sim::training {

using fold::Mark;
using fold::Replica;
using topology::DeviceIndex;

namespace {

// How the ranks of a replica lie among parts of so many devices.
enum class Fit { each_in_its_own, blocks, all_in_one, none };

class Planner {
 public:
  Planner(const Job& job, const plan::RankGrid& grid)
      : job_(job),
        cluster_(*job.cluster),
        stride_(grid.stride(plan::Dimension::data)),
        count_(grid.extent(plan::Dimension::data)),
        ranks_(grid.ranks()) {}

  std::optional<ReplicaPlan> run();

 private:
  Fit fit(std::int64_t part) const;
  bool hosts_are_exchangeable(const topology::Blocks& blocks) const;
  bool add_tier(std::size_t tier, std::int64_t part);
  Replica replica_of(std::int64_t rank) const { return rank / stride_ % count_; }
  void mark(Replica first, Replica last);
  void disturb(Replica first, Replica last) {
    mark(first, last);
    plan_.disturbed.emplace_back(first, last);
  }
  void mark_disturbances();
  void mark_types();
  bool mark_sample();

  const Job& job_;
  const topology::Cluster& cluster_;
  const std::int64_t stride_, count_, ranks_;
  Replica unit_ = 1;
  std::vector<Replica> blocks_;
  std::vector<Mark> marks_;
  ReplicaPlan plan_;
};

Fit Planner::fit(std::int64_t part) const {
  const std::int64_t span = stride_ * count_;
  if (stride_ % part == 0) return Fit::each_in_its_own;
  if (part % span == 0) return Fit::all_in_one;
  const bool is_topmost = span == ranks_;
  if (part % stride_ == 0 && (span % part == 0 || is_topmost)) return Fit::blocks;
  return Fit::none;
}

// Inside a host with several members of a data group, neighbours in a ring go one way in every
// other host; only a crossbar does not see which.
bool Planner::hosts_are_exchangeable(const topology::Blocks& blocks) const {
  const int members = plan_.members_per_host;
  const std::int64_t hosts = count_ / members;
  if (members == 2 && hosts % 2 == 1) return false;
  std::vector<DeviceIndex> firsts = cluster_.type_borders();
  firsts.push_back(0);
  return std::all_of(firsts.begin(), firsts.end(), [&](DeviceIndex first) {
    const topology::HostType* type = cluster_.host_type(cluster_.device(first).host);
    const bool is_crossbar = type && type->scale_up.kind == topology::ScaleUp::Kind::crossbar;
    return is_crossbar || (members == 1 && blocks.domain == blocks.host);
  });
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

void Planner::mark(Replica first, Replica last) {
  marks_.push_back(
      {first, std::min<Replica>(last, count_), static_cast<std::int32_t>(marks_.size())});
}

// Each of the first replicas for itself; false: they tell nothing of the others.
bool Planner::mark_sample() {
  if (!marks_.empty()) return false;  // by types of devices
  for (Replica r = 0; r < std::min<Replica>(job_.jitter.replicas, count_); ++r) mark(r, r + 1);
  plan_.is_sample = true;
  return true;
}

void Planner::mark_disturbances() {
  for (const Disturbance& d : job_.disturbances) {
    if (d.kind != Disturbance::Kind::link) {
      if (d.index < ranks_) disturb(replica_of(d.index), replica_of(d.index) + 1);
      continue;
    }
    const auto tier = static_cast<std::size_t>(cluster_.tier(d.index));
    const DeviceIndex first = cluster_.first_device(d.index);
    if (first >= ranks_ || plan_.level_of_tier[tier] == SIZE_MAX) continue;
    const Replica replicas = tier == 0 ? plan_.members_per_host : plan_.block_of_tier[tier];
    disturb(replica_of(first), replica_of(first) + replicas);
  }
}

void Planner::mark_types() {
  for (const DeviceIndex border : cluster_.type_borders()) {
    const std::int64_t inside = border % (stride_ * count_);
    if (border >= ranks_ || inside == 0) continue;
    const Replica at = inside / stride_;
    if (inside % stride_ != 0) mark(at, at + 1);
    mark(inside % stride_ == 0 ? at : at + 1, count_);
  }
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
  mark_types();
  if (job_.jitter.is_on() && !mark_sample()) return std::nullopt;
  mark_disturbances();
  plan_.replicas = fold::Replicas(count_, unit_, blocks_, std::move(marks_));
  for (std::size_t& level : plan_.level_of_tier) {
    if (level == SIZE_MAX) level = plan_.replicas.levels();
  }
  // A sample is what the user asks for; a few replicas less than all are not worth one.
  const double share_max = plan_.is_sample ? 0.8 : 0.5;
  const auto kept = static_cast<double>(plan_.replicas.kept().size());
  if (kept > share_max * static_cast<double>(count_)) return std::nullopt;
  return std::move(plan_);
}

}  // namespace

ReplicaPlan replica_plan(const Job& job, const plan::RankGrid& grid) {
  if (job.folds) {
    if (auto plan = Planner(job, grid).run()) return std::move(*plan);
  }
  ReplicaPlan plan;
  plan.replicas = fold::Replicas::all(grid.extent(plan::Dimension::data));
  return plan;
}

}  // namespace sim::training
