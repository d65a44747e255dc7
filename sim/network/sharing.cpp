// Lazy progress and component-wise re-solving.
#include "sim/network/sharing.h"

#include <utility>

namespace sim::network {

Sharing::Sharing(std::vector<std::int64_t> capacity, std::size_t tasks)
    : resources_(capacity.size()), active_(tasks) {
  for (std::size_t r = 0; r < capacity.size(); ++r) resources_[r].capacity = capacity[r];
}

void Sharing::touch(std::int32_t resource) {
  Resource& r = resources_[static_cast<std::size_t>(resource)];
  if (r.is_touched) return;
  r.is_touched = true;
  touched_.push_back(resource);
}

void Sharing::start(Task task, Int128 work, std::int64_t weight, std::span<const Use> uses,
                    Picoseconds now) {
  Active& active = active_[static_cast<std::size_t>(task)];
  invariant(!active.is_active && work > 0, "a task starts twice or without work");
  active.is_active = active.is_new = true;
  active.remaining = work;
  active.updated_at = now;
  active.rate = 0;
  active.weight = weight;
  active.uses.assign(uses.begin(), uses.end());
  active.positions.resize(uses.size());
  for (std::size_t u = 0; u < uses.size(); ++u) {
    Resource& r = resources_[static_cast<std::size_t>(uses[u].resource)];
    active.positions[u] = static_cast<std::int32_t>(r.entries.size());
    r.entries.push_back({task, static_cast<std::int32_t>(u)});
    r.demand += Int128{uses[u].amount} << rate_bits;
    touch(uses[u].resource);
  }
  new_.push_back(task);
}

void Sharing::stop(Task task) {
  Active& active = active_[static_cast<std::size_t>(task)];
  invariant(active.is_active, "a task stops that is not in progress");
  active.is_active = false;
  for (std::size_t u = 0; u < active.uses.size(); ++u) {
    Resource& r = resources_[static_cast<std::size_t>(active.uses[u].resource)];
    const std::size_t position = static_cast<std::size_t>(active.positions[u]);
    const Entry last = r.entries.back();
    r.entries[position] = last;
    active_[static_cast<std::size_t>(last.task)].positions[static_cast<std::size_t>(last.use)] =
        static_cast<std::int32_t>(position);
    r.entries.pop_back();
    r.demand -= Int128{active.uses[u].amount} << rate_bits;
    touch(active.uses[u].resource);
  }
}

void Sharing::set_capacity(std::int32_t resource, std::int64_t capacity) {
  resources_[static_cast<std::size_t>(resource)].capacity = capacity;
  touch(resource);
}

void Sharing::reserve(std::int32_t resource, std::int64_t amount) {
  resources_[static_cast<std::size_t>(resource)].reserved += amount;
  touch(resource);
}

void Sharing::gather(Task task) {
  Active& active = active_[static_cast<std::size_t>(task)];
  if (active.is_gathered || !active.is_active) return;
  active.is_gathered = true;
  gathered_.push_back(task);
}

// Everything whose rate may differ now: new tasks, tasks of resources that bind or bound, and
// whatever is joined to them through resources that bind.
void Sharing::gather_component() {
  gathered_.clear();
  binding_.clear();
  for (const Task task : new_) gather(task);
  for (const std::int32_t index : touched_) {
    Resource& r = resources_[static_cast<std::size_t>(index)];
    r.is_touched = false;
    if (r.is_binding() || r.was_binding) {
      for (const Entry& entry : r.entries) gather(entry.task);
    }
    r.was_binding = false;
  }
  touched_.clear();
  new_.clear();
  for (std::size_t i = 0; i < gathered_.size(); ++i) {
    for (const Use& use : active_[static_cast<std::size_t>(gathered_[i])].uses) {
      Resource& r = resources_[static_cast<std::size_t>(use.resource)];
      if (r.is_touched || !r.is_binding()) continue;
      r.is_touched = true;  // marks it as taken while gathering
      r.local = static_cast<std::int32_t>(binding_.size());
      binding_.push_back(use.resource);
      for (const Entry& entry : r.entries) gather(entry.task);
    }
  }
}

void Sharing::solve(Picoseconds now) {
  demands_.clear();
  local_uses_.clear();
  local_capacity_.clear();
  for (const std::int32_t index : binding_) {
    local_capacity_.push_back(resources_[static_cast<std::size_t>(index)].available());
  }
  ranges_.clear();
  for (const Task task : gathered_) {
    const std::size_t first = local_uses_.size();
    for (const Use& use : active_[static_cast<std::size_t>(task)].uses) {
      const Resource& r = resources_[static_cast<std::size_t>(use.resource)];
      if (r.is_touched) local_uses_.push_back({r.local, use.amount});
    }
    ranges_.emplace_back(first, local_uses_.size() - first);
  }
  for (std::size_t i = 0; i < gathered_.size(); ++i) {
    demands_.push_back({active_[static_cast<std::size_t>(gathered_[i])].weight, rate_one,
                        std::span(local_uses_).subspan(ranges_[i].first, ranges_[i].second)});
  }
  rates_.resize(gathered_.size());
  max_min_.solve(local_capacity_, demands_, rates_);
  for (std::size_t i = 0; i < gathered_.size(); ++i) set_rate(gathered_[i], rates_[i], now);
}

void Sharing::set_rate(Task task, std::int64_t rate, Picoseconds now) {
  Active& active = active_[static_cast<std::size_t>(task)];
  if (rate == active.rate && !active.is_new) return;
  active.remaining -= Int128{active.rate} * (now - active.updated_at);
  invariant(active.remaining >= 0, "a task went on after its end");
  active.updated_at = now;
  active.rate = rate;
  active.is_new = false;
  changed_.push_back(task);
}

void Sharing::resolve(Picoseconds now) {
  changed_.clear();
  if (touched_.empty() && new_.empty()) return;
  gather_component();
  if (binding_.empty()) {
    for (const Task task : gathered_) set_rate(task, rate_one, now);
  } else {
    solve(now);
  }
  for (const std::int32_t index : binding_) {
    Resource& r = resources_[static_cast<std::size_t>(index)];
    r.is_touched = false;
    r.was_binding = true;
  }
  for (const Task task : gathered_) active_[static_cast<std::size_t>(task)].is_gathered = false;
}

Picoseconds Sharing::ends_at(Task task) const {
  const Active& active = active_[static_cast<std::size_t>(task)];
  if (active.rate == 0) return never;
  const Int128 left = (active.remaining + active.rate - 1) / active.rate;
  constexpr Picoseconds last = INT64_MAX / 2;
  if (left > last - active.updated_at) return never;
  return active.updated_at + static_cast<Picoseconds>(left);
}

Int128 Sharing::load(std::int32_t resource) const {
  Int128 sum = 0;
  for (const Entry& entry : resources_[static_cast<std::size_t>(resource)].entries) {
    const Active& active = active_[static_cast<std::size_t>(entry.task)];
    sum += Int128{active.uses[static_cast<std::size_t>(entry.use)].amount} * active.rate;
  }
  return sum;
}

}  // namespace sim::network
