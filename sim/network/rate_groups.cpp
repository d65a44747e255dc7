// Groups by hash; the end of each group's first task in one heap.
#include "sim/network/rate_groups.h"

#include <algorithm>

namespace sim::network {
namespace {

std::uint64_t hash_of(std::int64_t weight, std::span<const Use> uses) {
  std::uint64_t hash = static_cast<std::uint64_t>(weight);
  for (const Use& use : uses) {
    hash = (hash ^ static_cast<std::uint64_t>(use.resource)) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

// Each group has tasks when rates are up to date. Before, there can be as many again: those that
// all tasks have left, and those that they join.
RateGroups::RateGroups(std::size_t tasks) : buckets_(64, -1), places_(tasks), ends_(2 * tasks) {}

std::optional<RateGroups::Group> RateGroups::find(std::int64_t weight,
                                                  std::span<const Use> uses) const {
  const std::uint64_t hash = hash_of(weight, uses);
  for (Group g = buckets_[hash & (buckets_.size() - 1)]; g >= 0; g = (*this)[g].next) {
    const RateGroup& group = (*this)[g];
    if (group.hash == hash && group.weight == weight &&
        std::ranges::equal(group.uses, uses, {}, &Use::resource, &Use::resource)) {
      return g;
    }
  }
  return std::nullopt;
}

void RateGroups::grow_buckets() {
  buckets_.assign(buckets_.size() * 2, -1);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& first = bucket(groups_[g].hash);
    groups_[g].next = first;
    first = static_cast<Group>(g);
  }
}

RateGroups::Group RateGroups::add(std::int64_t weight, std::span<const Use> uses, Picoseconds now) {
  Group result = static_cast<Group>(groups_.size());
  if (free_.empty()) {
    // None is free, so all are in the buckets.
    if (groups_.size() == buckets_.size()) grow_buckets();
    groups_.emplace_back();
  } else {
    result = free_.back();
    free_.pop_back();
  }
  RateGroup& group = (*this)[result];
  group.weight = weight;
  group.rate = group.level = group.level_rate = 0;
  group.cap_level = MaxMin::cap_level(weight, rate_one);
  group.progress = 0;
  group.updated_at = now;
  group.uses.assign(uses.begin(), uses.end());
  for (Use& use : group.uses) use.amount = 0;
  group.positions.resize(uses.size());
  group.hash = hash_of(weight, uses);
  group.next = bucket(group.hash);
  bucket(group.hash) = result;
  return result;
}

void RateGroups::forget(Group group) {
  RateGroup& forgotten = (*this)[group];
  Group* link = &bucket(forgotten.hash);
  while (*link != group) link = &(*this)[*link].next;
  *link = forgotten.next;
  forgotten.is_stale = false;
  ends_.remove(group);
  free_.push_back(group);
}

void RateGroups::set_stale(Group group) {
  if ((*this)[group].is_stale) return;
  (*this)[group].is_stale = true;
  stale_.push_back(group);
}

void RateGroups::join(Group group, Task task, Int128 remaining, std::span<const Use> uses,
                      Picoseconds now) {
  RateGroup& joined = (*this)[group];
  for (std::size_t u = 0; u < uses.size(); ++u) {
    joined.uses[u].amount += uses[u].amount;
    invariant(joined.uses[u].amount <= amount_max, "the tasks of a group use too much");
  }
  places_[static_cast<std::size_t>(task)].group = group;
  joined.members.push_back({joined.progress_at(now) + remaining, task});
  engine::rise(joined.members, joined.members.size() - 1, putter(joined));
  set_stale(group);
}

void RateGroups::leave(Task task, std::span<const Use> uses) {
  Place& left = places_[static_cast<std::size_t>(task)];
  RateGroup& group = (*this)[left.group];
  for (std::size_t u = 0; u < uses.size(); ++u) group.uses[u].amount -= uses[u].amount;
  engine::take_out(group.members, static_cast<std::size_t>(left.position), putter(group));
  set_stale(left.group);
  left.group = -1;
}

Int128 RateGroups::remaining(Task task, Picoseconds now) const {
  const RateGroup& group = (*this)[place(task).group];
  return group.members[static_cast<std::size_t>(place(task).position)].end - group.progress_at(now);
}

void RateGroups::set_rate(Group group, std::int64_t rate, Picoseconds now) {
  RateGroup& changed = (*this)[group];
  if (rate == changed.rate) return;
  changed.progress = changed.progress_at(now);
  changed.updated_at = now;
  changed.rate = rate;
  invariant(changed.members.empty() || changed.members.front().end >= changed.progress,
            "a task went on after its end");
  if (!changed.is_stale) set_end(group);
}

Picoseconds RateGroups::end_of(const RateGroup& group, const RateGroup::Member& member) {
  if (group.rate == 0) return never;
  const Int128 left = (member.end - group.progress + group.rate - 1) / group.rate;
  constexpr Picoseconds last = never / 2;
  if (left > last - group.updated_at) return never;
  return group.updated_at + static_cast<Picoseconds>(left);
}

void RateGroups::set_end(Group group) {
  const RateGroup& g = (*this)[group];
  const Picoseconds end = g.members.empty() ? never : end_of(g, g.members.front());
  if (end == never) {
    ends_.remove(group);
  } else {
    ends_.set(group, end);
  }
}

void RateGroups::refresh() {
  for (const Group group : stale_) {
    (*this)[group].is_stale = false;
    set_end(group);
  }
  stale_.clear();
}

Picoseconds RateGroups::ends_at(Task task) const {
  const RateGroup& group = (*this)[place(task).group];
  return end_of(group, group.members[static_cast<std::size_t>(place(task).position)]);
}

std::optional<RateGroups::Task> RateGroups::due(Picoseconds now) {
  while (!ends_.empty() && ends_.earliest() <= now) {
    const Group group = ends_.top();
    const RateGroup& g = (*this)[group];
    if (!g.members.empty() && g.members.front().end <= g.progress_at(now)) {
      return g.members.front().task;
    }
    ends_.remove(group);
    set_stale(group);  // the next of its tasks ends later
  }
  return std::nullopt;
}

}  // namespace sim::network
