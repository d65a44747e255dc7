// Intervals of a unit, in the least shares that either layout cuts it into.
#include "sim/plan/state_moves.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "sim/base/invariant.h"

namespace sim::plan {
namespace {

struct Interval {
  std::int64_t begin = 0, end = 0;
};
struct Held {
  int device = 0;
  Interval what;
};

class Mover {
 public:
  Mover(const StateLayout& old_layout, const StateLayout& new_layout,
        const std::vector<int>& host_of)
      : old_(old_layout), new_(new_layout), host_of_(host_of) {}

  void move(int unit, const UnitBytes& bytes);
  std::vector<StateMove> take() const;

 private:
  // Of a unit, the stage of each replica.
  using Stages = std::vector<const StateLayout::Stage*>;
  static Stages stages_with(const StateLayout& layout, int unit);
  static int shares(const Stages& stages);
  std::vector<Held> weights(const Stages& stages) const;
  std::vector<Held> optimizer(const Stages& stages, bool is_shared) const;
  void move(const std::vector<Held>& before, const std::vector<Held>& after, double bytes);
  void fetch(int device, Interval missing, const std::vector<Held>& before, double bytes);
  bool is_better(const Held& a, const Held& b, int device) const;

  const StateLayout &old_, &new_;
  const std::vector<int>& host_of_;
  std::int64_t parts_ = 1;  // of the unit
  std::map<std::pair<int, int>, double> moved_;
  std::map<int, double> sent_;  // [device]
};

Mover::Stages Mover::stages_with(const StateLayout& layout, int unit) {
  Stages result;
  for (const auto& replica : layout.replicas) {
    const auto stage = std::find_if(replica.begin(), replica.end(), [&](const auto& one) {
      return one.first_unit <= unit && unit < one.end_unit;
    });
    invariant(stage != replica.end(), "a replica lacks a unit");
    result.push_back(&*stage);
  }
  return result;
}

int Mover::shares(const Stages& stages) {
  std::size_t most = 0;
  for (const auto* stage : stages) most = std::max(most, stage->devices.size());
  return static_cast<int>(most);
}

std::vector<Held> Mover::weights(const Stages& stages) const {
  std::vector<Held> result;
  for (const auto* stage : stages) {
    const auto degree = static_cast<std::int64_t>(stage->devices.size());
    for (std::int64_t i = 0; i < degree; ++i) {
      result.push_back({stage->devices[static_cast<std::size_t>(i)],
                        {i * parts_ / degree, (i + 1) * parts_ / degree}});
    }
  }
  return result;
}

std::vector<Held> Mover::optimizer(const Stages& stages, bool is_shared) const {
  if (!is_shared) return weights(stages);
  std::vector<Held> result;
  const std::int64_t all = shares(stages), replicas = static_cast<std::int64_t>(stages.size());
  const std::int64_t each = parts_ / (all * replicas);
  for (std::int64_t r = 0; r < replicas; ++r) {
    const auto& devices = stages[static_cast<std::size_t>(r)]->devices;
    for (std::int64_t share = 0; share < all; ++share) {
      const auto rank = share * static_cast<std::int64_t>(devices.size()) / all;
      const std::int64_t begin = (share * replicas + r) * each;
      result.push_back({devices[static_cast<std::size_t>(rank)], {begin, begin + each}});
    }
  }
  return result;
}

void Mover::move(int unit, const UnitBytes& bytes) {
  const Stages before = stages_with(old_, unit), after = stages_with(new_, unit);
  parts_ = std::lcm(shares(before) * static_cast<std::int64_t>(before.size()),
                    shares(after) * static_cast<std::int64_t>(after.size()));
  move(weights(before), weights(after), bytes.weights);
  move(optimizer(before, old_.shares_optimizer), optimizer(after, new_.shares_optimizer),
       bytes.optimizer);
}

void Mover::move(const std::vector<Held>& before, const std::vector<Held>& after, double bytes) {
  std::map<int, std::vector<Interval>> own;
  for (const Held& held : before) own[held.device].push_back(held.what);
  for (const Held& needed : after) {
    std::int64_t at = needed.what.begin;
    auto& intervals = own[needed.device];
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    for (const Interval& has : intervals) {
      const std::int64_t begin = std::min(std::max(has.begin, at), needed.what.end);
      if (begin > at) fetch(needed.device, {at, begin}, before, bytes);
      at = std::max(at, std::min(has.end, needed.what.end));
    }
    if (at < needed.what.end) fetch(needed.device, {at, needed.what.end}, before, bytes);
  }
}

bool Mover::is_better(const Held& a, const Held& b, int device) const {
  const auto host = [&](int one) { return host_of_[static_cast<std::size_t>(one)]; };
  const bool is_near = host(a.device) == host(device), other = host(b.device) == host(device);
  if (is_near != other) return is_near;
  const auto sent = [&](int one) {
    const auto found = sent_.find(one);
    return found == sent_.end() ? 0.0 : found->second;
  };
  if (sent(a.device) != sent(b.device)) return sent(a.device) < sent(b.device);
  return a.device < b.device;
}

void Mover::fetch(int device, Interval missing, const std::vector<Held>& before, double bytes) {
  while (missing.begin < missing.end) {
    const Held* best = nullptr;
    for (const Held& held : before) {
      const bool has_it = held.what.begin <= missing.begin && missing.begin < held.what.end;
      if (has_it && (best == nullptr || is_better(held, *best, device))) best = &held;
    }
    invariant(best != nullptr, "nobody holds a part of the state");
    const std::int64_t end = std::min(best->what.end, missing.end);
    const double size =
        bytes * static_cast<double>(end - missing.begin) / static_cast<double>(parts_);
    moved_[{best->device, device}] += size;
    sent_[best->device] += size;
    missing.begin = end;
  }
}

std::vector<StateMove> Mover::take() const {
  std::vector<StateMove> result;
  for (const auto& [pair, bytes] : moved_) {
    if (bytes > 0) result.push_back({pair.first, pair.second, bytes});
  }
  return result;
}

}  // namespace

std::vector<StateMove> state_moves(const StateLayout& old_layout, const StateLayout& new_layout,
                                   const std::vector<UnitBytes>& units,
                                   const std::vector<int>& host_of) {
  Mover mover(old_layout, new_layout, host_of);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    mover.move(static_cast<int>(unit), units[unit]);
  }
  return mover.take();
}

}  // namespace sim::plan
