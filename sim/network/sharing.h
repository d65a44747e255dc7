// Tasks in progress on shared resources: how far each is, how fast it goes, when it will end.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/network/max_min.h"
#include "sim/network/rate_groups.h"

namespace sim::network {

// A resource binds when the demand for it exceeds its capacity. A rate depends on nothing but the
// task's weight and the binding resources it uses, so tasks alike in these form a group, and rates
// are solved for groups: again only for those that are joined to a change by binding resources.
class Sharing {
 public:
  using Task = std::int32_t;  // the caller's number of the task, below `tasks`
  static constexpr Picoseconds never = RateGroups::never;

  // The load of `observed` resources is known without a look at each task. In return tasks on
  // different observed resources form different groups: only few should be observed.
  Sharing(std::vector<std::int64_t> capacity, std::size_t tasks,
          std::span<const std::int32_t> observed = {});

  // Begins `work` (its duration at rate one). REQUIRES: the task is not in progress; work > 0.
  void start(Task task, Picoseconds work, std::int64_t weight, std::span<const Use> uses,
             Picoseconds now);
  // The same for what is left of a task, in picoseconds times rate_one.
  void start(Task task, Int128 remaining, std::int64_t weight, std::span<const Use> uses,
             Picoseconds now);
  // REQUIRES: in progress.
  void stop(Task task);
  // Stops the tasks that end at or before `now`, and appends them in any order.
  void take_due(Picoseconds now, std::vector<Task>& due);
  bool in_progress(Task task) const { return active(task).is_active; }

  void set_capacity(std::int32_t resource, std::int64_t capacity);
  // Takes `amount` of the capacity away (or, negative, gives it back) without being a task.
  void reserve(std::int32_t resource, std::int64_t amount);

  // Brings all rates up to date. What follows is true only after that. A change is followed to
  // where it alters something; a change of much is followed to all that it could alter.
  // Returns whether there was any change.
  bool resolve(Picoseconds now);
  // A change is followed for so many looks at groups, for each there is, before it counts as one of
  // much. Results do not depend on it.
  void set_patience(std::size_t looks) { patience_ = looks; }
  // The first end, if nothing changes; `never` if there is none.
  Picoseconds earliest() const { return groups_.earliest(); }
  // The instant the task ends if nothing changes; `never` at rate zero, or so low that it would be
  // more than 53 days after the start.
  Picoseconds ends_at(Task task) const { return groups_.ends_at(task); }
  std::int64_t rate(Task task) const;
  // What is left of the task, in picoseconds times rate_one.
  Int128 remaining(Task task, Picoseconds now) const;

  // Sum of amount * rate over the tasks of a resource, in units of 2^-32. O(1) if the resource
  // binds or is observed, else O(tasks on it).
  Int128 load(std::int32_t resource) const;
  std::int64_t capacity(std::int32_t resource) const { return at(resource).capacity; }

 private:
  struct Entry {
    std::int32_t owner;  // task or group
    std::int32_t use;    // index in the owner's uses
  };
  struct Resource {
    std::int64_t capacity = 0, reserved = 0;
    Int128 demand = 0;   // sum of amount * rate_one
    bool binds = false;  // as the groups know it
    bool is_observed = false, is_touched = false, is_queued = false;
    std::vector<Entry> entries;  // tasks
    // If it tells groups apart:
    std::int32_t local = 0;  // index in the system being solved
    std::vector<Entry> groups;
    Int128 used = 0;                         // sum of amount * rate
    std::int64_t level = MaxMin::unlimited;  // where it is full
    std::int64_t filled = 0;                 // where it would be as of `version`
    std::uint64_t version = 0;

    std::int64_t available() const { return capacity > reserved ? capacity - reserved : 0; }
    bool is_overfull() const { return demand > (Int128{available()} << rate_bits); }
    // It is full nowhere, for certain: there is room for two units more of every rate, and a level
    // is off by less.
    bool has_room() const {
      return used + ((demand >> rate_bits) << 1) <= (Int128{available()} << rate_bits);
    }
    bool tells_apart() const { return binds || is_observed; }
  };
  struct Active {
    Int128 remaining = 0;  // while it is in no group
    std::int64_t weight = weight_one;
    bool is_active = false;
    bool is_moving = false;               // waits for its group
    std::vector<Use> uses;                // of more than nothing
    std::vector<std::int32_t> positions;  // in the entries of each use's resource
  };

  Resource& at(std::int32_t resource) { return resources_[static_cast<std::size_t>(resource)]; }
  const Resource& at(std::int32_t resource) const {
    return resources_[static_cast<std::size_t>(resource)];
  }
  Active& active(Task task) { return active_[static_cast<std::size_t>(task)]; }
  const Active& active(Task task) const { return active_[static_cast<std::size_t>(task)]; }

  void touch(std::int32_t resource);
  void set_key(const Active& active);
  void join(Task task, Picoseconds now);
  void leave(Task task);
  void drop_empty_groups();
  void regroup(Picoseconds now);
  void gather(RateGroups::Group group) {
    RateGroup& g = groups_[group];
    if (g.is_gathered) return;
    g.is_gathered = true;
    gathered_.push_back(group);
  }
  bool update_level(RateGroups::Group group);

  // Rates from the changes on.
  bool seed();
  void relevel(RateGroups::Group group, std::int32_t except);
  void queue(std::int32_t resource, std::int64_t key);
  void mark(std::int32_t resource);
  std::int64_t held_elsewhere(const RateGroup& group, std::int32_t resource) const;
  std::int64_t fill(std::int32_t resource);
  void set_level(std::int32_t resource, std::int64_t level);
  bool refill();

  // Rates of all that is joined to a change.
  void gather_all(const Resource& resource);
  void take(std::int32_t resource);
  void gather_component();
  void solve();

  std::vector<Resource> resources_;
  std::vector<Active> active_;
  RateGroups groups_;
  std::vector<std::int32_t> touched_;
  std::vector<Task> moving_;
  std::vector<Use> key_;  // what a task uses of the resources that tell groups apart
  std::vector<RateGroups::Group> gathered_;
  struct Queued {
    std::int64_t key;
    std::int32_t resource;
    bool operator>(const Queued& other) const {
      return key != other.key ? key > other.key : resource > other.resource;
    }
  };
  std::vector<Queued> queue_;  // a heap
  std::int64_t swept_ = 0;     // level of the change being made
  std::size_t patience_ = 4;   // a look costs about a tenth of what solving for a group does
  std::uint64_t version_ = 0;  // of the levels
  struct Unfrozen {
    std::int64_t level, amount, weight;
  };
  std::vector<Unfrozen> unfrozen_;

  std::vector<std::int32_t> binding_;  // resources of the system being solved
  MaxMin max_min_;
  std::vector<Demand> demands_;
  std::vector<Use> local_uses_;
  std::vector<std::pair<std::size_t, std::size_t>> ranges_;  // of local_uses_, [gathered group]
  std::vector<std::int64_t> local_capacity_, rates_;
};

}  // namespace sim::network
