// Solves everything that is joined to a change by resources that bind.
#include <algorithm>

#include "sim/network/sharing.h"

namespace sim::network {

void Sharing::gather_all(const Resource& resource) {
  for (const Entry& entry : resource.groups) gather(entry.owner);
}

// A resource that binds becomes part of the system to be solved.
void Sharing::take(std::int32_t resource) {
  Resource& r = at(resource);
  r.is_touched = true;  // marks it as taken while gathering
  r.local = static_cast<std::int32_t>(binding_.size());
  binding_.push_back(resource);
  gather_all(r);
}

void Sharing::gather_component() {
  for (const Queued& queued : queue_) at(queued.resource).is_queued = false;
  queue_.clear();
  binding_.clear();
  for (const RateGroups::Group group : groups_.stale()) gather(group);
  for (const std::int32_t index : touched_) {
    at(index).binds ? take(index) : gather_all(at(index));
  }
  for (std::size_t i = 0; i < gathered_.size(); ++i) {
    for (const Use& use : groups_[gathered_[i]].uses) {
      const Resource& r = at(use.resource);
      if (r.binds && !r.is_touched) take(use.resource);
    }
  }
  for (const std::int32_t index : binding_) at(index).is_touched = false;
}

void Sharing::solve() {
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
  for (std::size_t b = 0; b < binding_.size(); ++b) {
    at(binding_[b]).level = max_min_.levels()[b];
  }
  for (std::size_t i = 0; i < gathered_.size(); ++i) {
    update_level(gathered_[i]);
    invariant(groups_[gathered_[i]].level_rate == rates_[i], "levels and rates disagree");
  }
}

}  // namespace sim::network
