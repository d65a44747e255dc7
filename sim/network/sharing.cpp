// What tasks and resources do between two instants.
#include "sim/network/sharing.h"

namespace sim::network {

Sharing::Sharing(std::vector<std::int64_t> capacity, std::size_t tasks,
                 std::span<const std::int32_t> observed)
    : resources_(capacity.size()), active_(tasks), groups_(tasks) {
  for (std::size_t r = 0; r < capacity.size(); ++r) resources_[r].capacity = capacity[r];
  for (const std::int32_t resource : observed) at(resource).is_observed = true;
}

void Sharing::touch(std::int32_t resource) {
  Resource& r = at(resource);
  if (r.is_touched) return;
  r.is_touched = true;
  touched_.push_back(resource);
}

void Sharing::start(Task task, Picoseconds work, std::int64_t weight, std::span<const Use> uses,
                    Picoseconds now) {
  start(task, Int128{work} << rate_bits, weight, uses, now);
}

void Sharing::start(Task task, Int128 remaining, std::int64_t weight, std::span<const Use> uses,
                    Picoseconds) {
  Active& a = active(task);
  invariant(!a.is_active && remaining > 0, "a task starts twice or without work");
  a.is_active = true;
  a.remaining = remaining;
  a.weight = weight;
  a.uses.clear();
  a.uses.reserve(uses.size());
  a.positions.clear();
  a.positions.reserve(uses.size());
  for (const Use& use : uses) {
    if (use.amount == 0) continue;
    Resource& r = at(use.resource);
    a.positions.push_back(static_cast<std::int32_t>(r.entries.size()));
    r.entries.push_back({task, static_cast<std::int32_t>(a.uses.size())});
    a.uses.push_back(use);
    r.demand += Int128{use.amount} << rate_bits;
    touch(use.resource);
  }
  // It may have stopped at this instant and still be listed.
  if (!a.is_moving) moving_.push_back(task);
  a.is_moving = true;
}

void Sharing::stop(Task task) {
  Active& a = active(task);
  invariant(a.is_active, "a task stops that is not in progress");
  a.is_active = false;
  if (groups_.is_member(task)) leave(task);
  for (std::size_t u = 0; u < a.uses.size(); ++u) {
    Resource& r = at(a.uses[u].resource);
    const std::int32_t position = a.positions[u];
    const Entry last = r.entries.back();
    r.entries[static_cast<std::size_t>(position)] = last;
    active(last.owner).positions[static_cast<std::size_t>(last.use)] = position;
    r.entries.pop_back();
    r.demand -= Int128{a.uses[u].amount} << rate_bits;
    touch(a.uses[u].resource);
  }
}

void Sharing::take_due(Picoseconds now, std::vector<Task>& due) {
  while (const auto task = groups_.due(now)) {
    due.push_back(*task);
    stop(*task);
  }
}

void Sharing::set_capacity(std::int32_t resource, std::int64_t capacity) {
  at(resource).capacity = capacity;
  touch(resource);
}

void Sharing::reserve(std::int32_t resource, std::int64_t amount) {
  at(resource).reserved += amount;
  touch(resource);
}

std::int64_t Sharing::rate(Task task) const {
  return groups_.is_member(task) ? groups_[groups_.group(task)].rate : 0;
}

Int128 Sharing::remaining(Task task, Picoseconds now) const {
  return groups_.is_member(task) ? groups_.remaining(task, now) : active(task).remaining;
}

Int128 Sharing::load(std::int32_t resource) const {
  const Resource& r = at(resource);
  if (r.tells_apart()) return r.used;
  Int128 sum = 0;
  for (const Entry& entry : r.entries) {
    const Int128 amount = active(entry.owner).uses[static_cast<std::size_t>(entry.use)].amount;
    sum += amount * rate(entry.owner);
  }
  return sum;
}

}  // namespace sim::network
