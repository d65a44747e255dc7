// Follows a change of levels to where it alters something.
//
// A solution is consistent when each resource is full at the level that its groups' other levels
// give it, and there is only one such solution: by induction from the lowest level, where only caps
// count. So resources are filled again one by one until all agree; in order of level, because what
// happens above a level alters nothing below it.
#include <algorithm>
#include <functional>

#include "sim/network/sharing.h"

namespace sim::network {

// To be filled again at about `key`, the level at which it may change.
void Sharing::queue(std::int32_t resource, std::int64_t key) {
  at(resource).is_queued = true;
  queue_.push_back({key, resource});
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

void Sharing::mark(std::int32_t resource) {
  const Resource& r = at(resource);
  if (!r.binds || r.is_queued || (r.level == MaxMin::unlimited && r.has_room())) return;
  queue(resource, r.level == MaxMin::unlimited ? swept_ : std::max(swept_, r.level));
}

// Resources from which a group gets or takes something else now are to be filled again.
void Sharing::relevel(RateGroups::Group group, std::int32_t except) {
  if (!update_level(group)) return;
  for (const Use& use : groups_[group].uses) {
    if (use.resource != except) mark(use.resource);
  }
}

// Marks the resources on which something changed. Returns whether that is little.
bool Sharing::seed() {
  const std::size_t much = 32 + groups_.size() / 2;
  swept_ = 0;
  ++version_;
  for (const std::int32_t index : touched_) {
    Resource& r = at(index);
    if (r.binds) {
      mark(index);
    } else if (r.level != MaxMin::unlimited) {
      r.level = MaxMin::unlimited;
      for (const Entry& entry : r.groups) relevel(entry.owner, index);
    }
  }
  if (groups_.stale().size() > much) return false;
  for (const RateGroups::Group group : groups_.stale()) {
    relevel(group, -1);
    for (const Use& use : groups_[group].uses) mark(use.resource);
  }
  std::size_t marked = 0;
  for (const Queued& queued : queue_) marked += at(queued.resource).groups.size();
  return marked <= much;
}

// The level at which another resource or its cap freezes the group.
std::int64_t Sharing::held_elsewhere(const RateGroup& group, std::int32_t resource) const {
  std::int64_t level = group.cap_level;
  for (const Use& use : group.uses) {
    if (use.resource != resource) level = std::min(level, at(use.resource).level);
  }
  return level;
}

// The level at which the resource is full while the others stay as they are.
std::int64_t Sharing::fill(std::int32_t resource) {
  const Resource& r = at(resource);
  Int128 spare = Int128{r.available()} << rate_bits, load = 0;
  unfrozen_.clear();
  for (const Entry& entry : r.groups) {
    const RateGroup& g = groups_[entry.owner];
    const std::int64_t level = g.level < r.level ? g.level : held_elsewhere(g, resource);
    const std::int64_t amount = g.uses[static_cast<std::size_t>(entry.use)].amount;
    unfrozen_.push_back({level, amount, g.weight});
    load += Int128{amount} * g.weight;
  }
  // A group frozen below the level raises it, whatever the order.
  for (;;) {
    if (load == 0) return MaxMin::unlimited;
    const std::int64_t level = MaxMin::level_of(spare, load);
    std::size_t kept = 0;
    for (const Unfrozen& u : unfrozen_) {
      if (u.level < level) {
        spare -= Int128{u.amount} * MaxMin::rate_at(u.weight, rate_one, u.level);
        load -= Int128{u.amount} * u.weight;
      } else {
        unfrozen_[kept++] = u;
      }
    }
    if (kept == unfrozen_.size()) return level;
    unfrozen_.resize(kept);
  }
}

void Sharing::set_level(std::int32_t resource, std::int64_t level) {
  Resource& r = at(resource);
  swept_ = std::min(level, r.level);
  r.level = level;
  ++version_;
  for (const Entry& entry : r.groups) {
    if (groups_[entry.owner].level >= swept_) relevel(entry.owner, resource);
  }
}

// Returns whether it came to an end; it gives up when solving everything would take less.
bool Sharing::refill() {
  if (!seed()) return false;
  std::size_t budget = patience_ * (16 + groups_.size());
  while (!queue_.empty()) {
    const std::int32_t index = queue_.front().resource;
    Resource& r = at(index);
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    queue_.pop_back();
    r.is_queued = false;
    if (r.version != version_) {
      if (budget < r.groups.size()) return false;
      budget -= r.groups.size();
      r.filled = fill(index);
      r.version = version_;
    }
    if (r.filled == r.level) continue;
    const std::int64_t change = std::min(r.filled, r.level);
    if (!queue_.empty() && queue_.front().key < change) {
      queue(index, change);
    } else {
      set_level(index, r.filled);
    }
  }
  return true;
}

}  // namespace sim::network
