// Units of replicas that are whole hosts, and their kinds by the borders that cut them.
#include "sim/training/uneven_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace sim::training {

using fold::Replica;

namespace {

// Parts of the cluster that may be cut anywhere.
struct Tier {
  std::int64_t size = 0;   // devices
  std::int64_t reach = 0;  // so far away from a unit its borders matter
};

class Planner {
 public:
  Planner(const Job& job, const plan::RankGrid& grid)
      : job_(job), cluster_(*job.cluster), geometry_(grid) {}

  std::optional<ReplicaPlan> run();

 private:
  bool choose_unit(const topology::Blocks& blocks);
  void mark_off(bool crosses_domains, bool is_even, std::int64_t host);
  void mark_ends(ReplicaMarks& marks) const;
  std::vector<std::int32_t> kinds() const;
  std::int64_t border(const Tier& tier, std::int64_t run, Replica unit) const;
  std::int64_t step() const { return unit_ * geometry_.stride; }

  const Job& job_;
  const topology::Cluster& cluster_;
  const ReplicaGeometry geometry_;
  Replica unit_ = 1;
  std::vector<Tier> tiers_;
  Replica first_ends_ = 0, last_ends_ = 0;  // so many replicas are by themselves
};

bool Planner::choose_unit(const topology::Blocks& blocks) {
  const std::int64_t stride = geometry_.stride, host = blocks.host, domain = blocks.domain;
  if (geometry_.span() < 2 * std::max(host, domain)) return false;
  const bool are_crossbars = has_crossbars(cluster_);
  // Rings go from one domain to the next by other links than inside.
  const bool crosses_domains = domain > host && are_crossbars;
  if (crosses_domains) tiers_.push_back({domain, std::max(stride, host)});
  // Several members of a group in a host: a crossbar does not see which way rings go through equal
  // ones. Otherwise they go one way in every other host.
  const bool is_even = stride >= host || (host % stride == 0 && are_crossbars);
  mark_off(crosses_domains, is_even, host);
  if (!blocks.shares_host_links && (domain == host || crosses_domains)) {
    // A replica is told by its places in hosts.
    const std::int64_t size = is_even ? host : 2 * host;
    tiers_.push_back({size, size});
    return true;
  }
  // Replicas share links: those of whole hosts, and domains, stay together.
  const std::int64_t whole = std::lcm(host, crosses_domains ? host : domain);
  if (geometry_.runs() > 1 && geometry_.span() % whole != 0) return false;
  unit_ = std::lcm(whole, stride) / stride;
  if (!is_even && step() / host % 2 == 1) unit_ *= 2;
  if (crosses_domains) tiers_.front().reach = step();
  return true;
}

// Where rings close, domains are left, and the first and last hosts of a run may have fewer members
// than others; of an odd number of hosts rings go through the last two in another way.
void Planner::mark_off(bool crosses_domains, bool is_even, std::int64_t host) {
  const Replica per_host = (host + geometry_.stride - 1) / geometry_.stride;
  const bool has_several = geometry_.stride < host;
  const bool are_cut = has_several && geometry_.span() % host != 0;
  first_ends_ = last_ends_ = crosses_domains || are_cut ? per_host : 0;
  if (!is_even) last_ends_ = 2 * per_host;
}

void Planner::mark_ends(ReplicaMarks& marks) const {
  const Replica count = geometry_.count;
  for (Replica r = 0; r < count; ++r) {
    if (r == first_ends_) r = std::max(r, count - last_ends_);
    if (r < count) marks.add(r, r + 1);
  }
}

// Where the first border of a tier is in the unit, or within reach: from 1; 0: between the unit's
// ranks in this run and in the next; -1: after those too.
std::int64_t Planner::border(const Tier& tier, std::int64_t run, Replica unit) const {
  const std::int64_t from = geometry_.first(run, unit * unit_) - tier.reach;
  const std::int64_t inside = (from % tier.size + tier.size) % tier.size;
  const std::int64_t next = tier.size - inside;
  if (next < step() + 2 * tier.reach) return next;
  const bool is_last = run + 1 == geometry_.runs();
  return !is_last && next - tier.reach <= geometry_.span() ? 0 : -1;
}

// Units are of one kind whose ranks are at the same places of hosts, and together in groups, pods
// and domains in the same way. Empty: too many to tell.
std::vector<std::int32_t> Planner::kinds() const {
  const Replica units = (geometry_.count + unit_ - 1) / unit_;
  Replica period = 1;
  for (const Tier& tier : tiers_) {
    period = std::min(std::lcm(period, tier.size / std::gcd(tier.size, step())), units);
  }
  constexpr std::int64_t looked_at_max = 4'000'000;
  if (period * geometry_.runs() > looked_at_max) return {};
  std::map<std::vector<std::int64_t>, std::int32_t> known;
  std::vector<std::int32_t> result;
  std::vector<std::int64_t> borders;
  for (Replica unit = 0; unit < period; ++unit) {
    borders.clear();
    for (std::int64_t run = 0; run < geometry_.runs(); ++run) {
      for (const Tier& tier : tiers_) borders.push_back(border(tier, run, unit));
    }
    const auto next = static_cast<std::int32_t>(known.size());
    result.push_back(known.try_emplace(borders, next).first->second);
  }
  if (known.size() == 1) result.resize(1);
  return result;
}

std::optional<ReplicaPlan> Planner::run() {
  const std::optional<topology::Blocks> blocks = cluster_.blocks();
  if (!blocks || geometry_.count < 4 || !choose_unit(*blocks)) return std::nullopt;
  ReplicaPlan plan;
  ReplicaMarks marks(job_, geometry_, *blocks);
  marks.add_types();
  plan.is_sample = job_.jitter.is_on();
  if (plan.is_sample && !marks.add_sample()) return std::nullopt;
  marks.add_disturbances();
  plan.disturbed = marks.disturbed();
  mark_ends(marks);
  for (const std::int64_t size : {blocks->group, blocks->pod}) {
    if (size > 0 && size < geometry_.ranks) tiers_.push_back({size, 0});
  }
  std::vector<std::int32_t> found = kinds();
  if (found.empty()) return std::nullopt;
  fold::PeriodicReplicas classes(geometry_.count, unit_, std::move(found), marks.marks());
  plan.replicas = classes.kept();
  if (!is_worth_it(plan)) return std::nullopt;
  plan.uneven.emplace(geometry_, std::move(classes), *blocks);
  return plan;
}

}  // namespace

std::optional<ReplicaPlan> uneven_plan(const Job& job, const plan::RankGrid& grid) {
  return Planner(job, grid).run();
}

}  // namespace sim::training
