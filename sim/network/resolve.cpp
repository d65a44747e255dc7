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
  const std::int64_t rate = groups_[*group].level_rate;
  for (const Use& use : key_) at(use.resource).used += Int128{use.amount} * rate;
}

void Sharing::leave(Task task) {
  set_key(active(task));
  const std::int64_t rate = groups_[groups_.group(task)].level_rate;
  for (const Use& use : key_) at(use.resource).used -= Int128{use.amount} * rate;
  groups_.leave(task, key_);
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
  std::size_t kept = 0;
  for (const std::int32_t index : touched_) {
    Resource& r = at(index);
    r.is_touched = false;
    // Where nothing binds or bound, nothing changes for others.
    const bool is_overfull = r.is_overfull();
    if (!is_overfull && !r.binds) continue;
    touched_[kept++] = index;
    if (r.is_observed || is_overfull == r.binds) continue;
    for (const Entry& entry : r.entries) {
      Active& a = active(entry.owner);
      if (a.is_moving) continue;
      a.is_moving = true;
      moving_.push_back(entry.owner);
      a.remaining = groups_.remaining(entry.owner, now);
      leave(entry.owner);
    }
  }
  touched_.resize(kept);
  for (const std::int32_t index : touched_) at(index).binds = at(index).is_overfull();
  for (const Task task : moving_) {
    active(task).is_moving = false;
    if (active(task).is_active) join(task, now);
  }
  moving_.clear();
  drop_empty_groups();
}

// Takes over what the levels of the group's resources give it. Returns whether its level changes.
bool Sharing::update_level(RateGroups::Group group) {
  RateGroup& g = groups_[group];
  std::int64_t level = g.cap_level;
  for (const Use& use : g.uses) level = std::min(level, at(use.resource).level);
  if (level == g.level) return false;
  g.level = level;
  gather(group);
  const std::int64_t rate = MaxMin::rate_at(g.weight, rate_one, level);
  for (const Use& use : g.uses) {
    at(use.resource).used += Int128{use.amount} * (rate - g.level_rate);
  }
  g.level_rate = rate;
  return true;
}

bool Sharing::resolve(Picoseconds now) {
  if (touched_.empty() && moving_.empty() && groups_.stale().empty()) return false;
  regroup(now);
  gathered_.clear();
  if (!refill()) {
    gather_component();
    solve();
  }
  touched_.clear();
  for (const RateGroups::Group group : gathered_) {
    groups_[group].is_gathered = false;
    groups_.set_rate(group, groups_[group].level_rate, now);
  }
  groups_.refresh();
  return true;
}

}  // namespace sim::network
