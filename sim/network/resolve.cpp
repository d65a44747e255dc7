// What an instant's changes do to groups and rates.
#include <algorithm>
#include <functional>

#include "sim/network/sharing.h"

namespace sim::network {

void Sharing::set_key(const Active& active) {
  key_.clear();
  for (const Use& use : active.uses) {
    if (at(use.resource).tells_apart()) key_.push_back(use);
  }
  if (std::ranges::is_sorted(key_, std::less_equal<>(), &Use::resource)) return;
  std::ranges::sort(key_, {}, &Use::resource);
  std::size_t last = 0;
  for (std::size_t u = 1; u < key_.size(); ++u) {
    if (key_[u].resource == key_[last].resource) {
      key_[last].amount += key_[u].amount;
    } else {
      key_[++last] = key_[u];
    }
  }
  key_.resize(last + 1);
}

void Sharing::join(Task task, Picoseconds now) {
  const Active& a = active(task);
  set_key(a);
  // Where nothing binds, every weight gives rate one.
  const std::int64_t weight = key_.empty() ? weight_one : a.weight;
  auto group = groups_.find(weight, key_);
  if (!group) {
    group = groups_.add(weight, key_, now);
    for (std::size_t u = 0; u < key_.size(); ++u) {
      Resource& r = at(key_[u].resource);
      groups_[*group].positions[u] = static_cast<std::int32_t>(r.groups.size());
      r.groups.push_back({*group, static_cast<std::int32_t>(u)});
    }
  }
  groups_.join(*group, task, a.remaining, key_, now);
}

void Sharing::drop_empty_groups() {
  groups_.drop_empty([this](RateGroups::Group dropped) {
    const RateGroup& group = groups_[dropped];
    for (std::size_t u = 0; u < group.uses.size(); ++u) {
      Resource& r = at(group.uses[u].resource);
      const Entry last = r.groups.back();
      r.groups[static_cast<std::size_t>(group.positions[u])] = last;
      groups_[last.owner].positions[static_cast<std::size_t>(last.use)] = group.positions[u];
      r.groups.pop_back();
    }
  });
}

// New tasks, and those of resources that bind from now on or no longer, go to their groups. Tasks
// leave by what told groups apart before and join by what does now.
void Sharing::regroup(Picoseconds now) {
  for (const std::int32_t index : touched_) {
    const Resource& r = at(index);
    if (r.is_observed || r.is_overfull() == r.binds) continue;
    for (const Entry& entry : r.entries) {
      Active& a = active(entry.owner);
      if (a.is_moving) continue;
      a.is_moving = true;
      moving_.push_back(entry.owner);
      a.remaining = groups_.remaining(entry.owner, now);
      set_key(a);
      groups_.leave(entry.owner, key_);
    }
  }
  for (const std::int32_t index : touched_) {
    Resource& r = at(index);
    r.had_to = r.binds;
    r.binds = r.is_overfull();
  }
  for (const Task task : moving_) {
    active(task).is_moving = false;
    if (active(task).is_active) join(task, now);
  }
  moving_.clear();
  drop_empty_groups();
}

void Sharing::gather(RateGroups::Group group) {
  if (groups_[group].is_gathered) return;
  groups_[group].is_gathered = true;
  gathered_.push_back(group);
}

void Sharing::gather_all(const Resource& resource) {
  for (const Entry& entry : resource.groups) gather(entry.owner);
}

// Everything whose rate may differ now: groups that lost or gained tasks, those on resources that
// bind or bound, and whatever is joined to them through resources that bind.
void Sharing::gather_component() {
  gathered_.clear();
  binding_.clear();
  for (const RateGroups::Group group : groups_.stale()) gather(group);
  for (const std::int32_t index : touched_) {
    Resource& r = at(index);
    r.is_touched = false;
    if (r.binds || r.had_to) gather_all(r);
  }
  touched_.clear();
  for (std::size_t i = 0; i < gathered_.size(); ++i) {
    for (const Use& use : groups_[gathered_[i]].uses) {
      Resource& r = at(use.resource);
      if (r.is_touched || !r.binds) continue;
      r.is_touched = true;  // marks it as taken while gathering
      r.local = static_cast<std::int32_t>(binding_.size());
      binding_.push_back(use.resource);
      gather_all(r);
    }
  }
}

void Sharing::solve(Picoseconds now) {
  demands_.clear();
  local_uses_.clear();
  local_capacity_.clear();
  ranges_.clear();
  for (const std::int32_t index : binding_) local_capacity_.push_back(at(index).available());
  for (const RateGroups::Group group : gathered_) {
    const std::size_t first = local_uses_.size();
    for (const Use& use : groups_[group].uses) {
      const Resource& r = at(use.resource);
      if (r.binds) local_uses_.push_back({r.local, use.amount});
    }
    ranges_.emplace_back(first, local_uses_.size() - first);
  }
  for (std::size_t i = 0; i < gathered_.size(); ++i) {
    demands_.push_back({groups_[gathered_[i]].weight, rate_one,
                        std::span(local_uses_).subspan(ranges_[i].first, ranges_[i].second)});
  }
  rates_.resize(gathered_.size());
  max_min_.solve(local_capacity_, demands_, rates_);
  for (std::size_t i = 0; i < gathered_.size(); ++i) {
    groups_.set_rate(gathered_[i], rates_[i], now);
  }
}

void Sharing::resolve(Picoseconds now) {
  if (touched_.empty() && moving_.empty() && groups_.stale().empty()) return;
  regroup(now);
  gather_component();
  solve(now);
  groups_.refresh();
  for (const std::int32_t index : binding_) at(index).is_touched = false;
  for (const RateGroups::Group group : gathered_) groups_[group].is_gathered = false;
}

}  // namespace sim::network
