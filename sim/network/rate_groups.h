// Tasks that always go at one rate, kept as one: of equal weight, and held by the same resources.
//
// A group counts its progress, the sum of rate * time. A task that joins at progress p with `left`
// to do ends when the group is at p + left: a change of rate touches the group and none of its
// tasks. Progress and work are in picoseconds times rate_one, exact.
// Worked: at progress 5 ms a task of 3 ms joins; at rate 1/2 it ends after 6 ms, at progress 8 ms.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/indexed_heap.h"
#include "sim/network/max_min.h"

namespace sim::network {

struct RateGroup {
  struct Member {
    Int128 end;  // the progress at which the task ends
    std::int32_t task;
    bool operator<(const Member& other) const {
      return end != other.end ? end < other.end : task < other.task;
    }
  };

  std::int64_t weight = weight_one, rate = 0;
  // Of the solution: where it is frozen, the rate that gives, and where that reaches one.
  std::int64_t level = 0, level_rate = 0, cap_level = 0;
  Int128 progress = 0;  // at updated_at
  Picoseconds updated_at = 0;
  std::vector<Use> uses;                // by resource; amounts summed over the tasks
  std::vector<std::int32_t> positions;  // the owner's, of each use
  std::vector<Member> members;          // a heap
  std::uint64_t hash = 0;
  std::int32_t next = -1;  // in its bucket
  bool is_stale = false;
  bool is_gathered = false;  // the owner's; waits for its rate

  Int128 progress_at(Picoseconds now) const { return progress + Int128{rate} * (now - updated_at); }
};

class RateGroups {
 public:
  using Task = std::int32_t;
  using Group = std::int32_t;
  static constexpr Picoseconds never = INT64_MAX;
  // Of a group on a resource: far above what 2^16 of the largest tasks add up to.
  static constexpr std::int64_t amount_max = std::int64_t{1} << 60;

  explicit RateGroups(std::size_t tasks);

  std::size_t size() const { return groups_.size() - free_.size(); }
  RateGroup& operator[](Group group) { return groups_[static_cast<std::size_t>(group)]; }
  const RateGroup& operator[](Group group) const {
    return groups_[static_cast<std::size_t>(group)];
  }
  bool is_member(Task task) const { return place(task).group >= 0; }
  Group group(Task task) const { return place(task).group; }

  // In what follows `uses` are by resource, ascending, each resource once.
  std::optional<Group> find(std::int64_t weight, std::span<const Use> uses) const;
  // Of the same resources, without tasks and at rate zero.
  Group add(std::int64_t weight, std::span<const Use> uses, Picoseconds now);
  void join(Group group, Task task, Int128 remaining, std::span<const Use> uses, Picoseconds now);
  void leave(Task task, std::span<const Use> uses);
  Int128 remaining(Task task, Picoseconds now) const;

  void set_rate(Group group, std::int64_t rate, Picoseconds now);
  // Groups that lost or gained tasks since the last call of `refresh`; only with the groups' ends
  // refreshed are `earliest` and `due` right.
  std::span<const Group> stale() const { return stale_; }
  // Forgets stale groups without tasks; `dropped` is told before. Those left stay stale.
  template <typename Dropped>
  void drop_empty(const Dropped& dropped);
  void refresh();

  Picoseconds earliest() const { return ends_.empty() ? never : ends_.earliest(); }
  Picoseconds ends_at(Task task) const;
  // A task whose end is not after `now`.
  std::optional<Task> due(Picoseconds now);

 private:
  struct Place {
    Group group = -1;
    std::int32_t position = 0;  // in its members
  };
  const Place& place(Task task) const { return places_[static_cast<std::size_t>(task)]; }
  auto putter(RateGroup& group) {
    return [this, &group](std::size_t position, const RateGroup::Member& member) {
      group.members[position] = member;
      places_[static_cast<std::size_t>(member.task)].position = static_cast<std::int32_t>(position);
    };
  }
  static Picoseconds end_of(const RateGroup& group, const RateGroup::Member& member);
  void set_stale(Group group);
  void set_end(Group group);
  void forget(Group group);
  void grow_buckets();
  Group& bucket(std::uint64_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }

  std::vector<RateGroup> groups_;  // those in free_ wait to be used again
  std::vector<Group> free_, stale_;
  std::vector<Group> buckets_;  // a power of two
  std::vector<Place> places_;   // [task]
  engine::IndexedHeap ends_;    // of the groups' first members
};

template <typename Dropped>
void RateGroups::drop_empty(const Dropped& dropped) {
  std::size_t kept = 0;
  for (const Group group : stale_) {
    if ((*this)[group].members.empty()) {
      dropped(group);
      forget(group);
    } else {
      stale_[kept++] = group;
    }
  }
  stale_.resize(kept);
}

}  // namespace sim::network
