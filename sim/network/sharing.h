// Tasks in progress on shared resources: how far each is, how fast it goes, when it will end.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/network/max_min.h"

namespace sim::network {

// Work is touched only when a rate changes, and rates are solved again only among tasks that are
// joined by resources whose demand exceeds their capacity; everything else runs at its cap.
class Sharing {
 public:
  using Task = std::int32_t;  // the caller's number of the task, below `tasks`
  static constexpr Picoseconds never = INT64_MAX;

  Sharing(std::vector<std::int64_t> capacity, std::size_t tasks);

  // Begins `work` (its duration at rate one). REQUIRES: the task is not in progress; work > 0.
  void start(Task task, Picoseconds work, std::int64_t weight, std::span<const Use> uses,
             Picoseconds now) {
    start(task, Int128{work} << rate_bits, weight, uses, now);
  }
  // `work` in picoseconds times rate_one.
  void start(Task task, Int128 work, std::int64_t weight, std::span<const Use> uses,
             Picoseconds now);
  // What is left of the task's work, in picoseconds times rate_one.
  Int128 remaining(Task task, Picoseconds now) const {
    const Active& active = active_[static_cast<std::size_t>(task)];
    return active.remaining - Int128{active.rate} * (now - active.updated_at);
  }
  // REQUIRES: in progress.
  void stop(Task task);
  bool in_progress(Task task) const { return active_[static_cast<std::size_t>(task)].is_active; }

  void set_capacity(std::int32_t resource, std::int64_t capacity);
  // Takes `amount` of the capacity away (or, negative, gives it back) without being a task.
  void reserve(std::int32_t resource, std::int64_t amount);

  // Brings all rates up to date. `changed` afterwards holds the tasks whose end moved.
  void resolve(Picoseconds now);
  std::span<const Task> changed() const { return changed_; }
  // The instant the task ends if nothing changes; `never` at rate zero, or so low that it would be
  // more than 53 days after the start.
  Picoseconds ends_at(Task task) const;
  std::int64_t rate(Task task) const { return active_[static_cast<std::size_t>(task)].rate; }

  // Sum of amount * rate over the tasks of a resource, in units of 2^-32.
  Int128 load(std::int32_t resource) const;
  std::int64_t capacity(std::int32_t resource) const {
    return resources_[static_cast<std::size_t>(resource)].capacity;
  }

 private:
  struct Entry {
    Task task;
    std::int32_t use;  // index in the task's uses
  };
  struct Resource {
    std::int64_t capacity = 0, reserved = 0;
    Int128 demand = 0;  // sum of amount * cap
    bool was_binding = false, is_touched = false;
    std::int32_t local = 0;  // index in the system being solved
    std::vector<Entry> entries;

    std::int64_t available() const { return capacity > reserved ? capacity - reserved : 0; }
    bool is_binding() const { return demand > (Int128{available()} << rate_bits); }
  };
  struct Active {
    Int128 remaining = 0;  // picoseconds times rate_one
    Picoseconds updated_at = 0;
    std::int64_t rate = 0, weight = weight_one;
    bool is_active = false, is_gathered = false, is_new = false;
    std::vector<Use> uses;
    std::vector<std::int32_t> positions;  // in the entries of each use's resource
  };

  void touch(std::int32_t resource);
  void gather(Task task);
  void gather_component();
  void solve(Picoseconds now);
  void set_rate(Task task, std::int64_t rate, Picoseconds now);

  std::vector<Resource> resources_;
  std::vector<Active> active_;
  std::vector<std::int32_t> touched_;
  std::vector<Task> new_, gathered_, changed_;
  std::vector<std::int32_t> binding_;  // resources of the system being solved
  MaxMin max_min_;
  std::vector<Demand> demands_;
  std::vector<Use> local_uses_;
  std::vector<std::pair<std::size_t, std::size_t>> ranges_;  // of local_uses_, [gathered task]
  std::vector<std::int64_t> local_capacity_, rates_;
};

}  // namespace sim::network
