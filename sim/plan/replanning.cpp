// Groups cut around stragglers, and the choice whether to do so.
#include "sim/plan/replanning.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

#include "sim/base/invariant.h"

namespace sim::plan {

namespace {

constexpr std::array changes = {Change::keep, Change::regroup, Change::drop};
constexpr std::array orders = {StageOrder::in_place, StageOrder::slow_first, StageOrder::slow_last};

bool is_power_of_two(std::size_t n) { return std::has_single_bit(n); }

// Takes a group of `size` out of `left`, which ascends.
std::vector<int> take_group(std::vector<int>& left, int size) {
  auto first = left.begin();
  for (auto i = left.begin(); left.end() - i >= size; ++i) {
    // Of ascending numbers, so many are a block if the last is so far from the first.
    if (*i % size == 0 && *(i + (size - 1)) == *i + (size - 1)) {
      first = i;
      break;
    }
  }
  std::vector<int> group(first, first + size);
  left.erase(first, first + size);
  return group;
}

// One way to run a replica.
struct Option {
  std::vector<std::vector<DevicePlace>> devices;  // [stage]
  std::vector<StageSpeed> speeds;                 // [stage]
};

class Replanner {
 public:
  Replanner(const UnevenJob& job, StageOrder order);
  // Those that there are, in the order of changes.
  std::vector<Replanning> all() const;

 private:
  using Slowdowns = std::vector<std::vector<double>>;  // [stage][device]
  bool is_straggler(double slowdown) const { return slowdown > job_.threshold; }
  bool has_straggler(const Slowdowns& stages) const;
  Option option(const Slowdowns& stages, Change change) const;
  double rate(const Slowdowns& stages, const std::vector<DevicePlace>& group) const;
  void reorder(const Slowdowns& stages, Option& option) const;
  Change fastest(std::size_t replica) const;
  std::optional<Replanning> replanning(std::vector<Change> chosen) const;

  const UnevenJob& job_;
  StageOrder order_;
  std::vector<std::vector<Option>> options_;  // [replica], by Change; healthy: only to keep
};

Replanner::Replanner(const UnevenJob& job, StageOrder order) : job_(job), order_(order) {
  for (const Slowdowns& stages : job.slowdowns) {
    std::vector<Option>& options = options_.emplace_back();
    for (const Change change : changes) {
      if (change == Change::keep || has_straggler(stages)) {
        options.push_back(option(stages, change));
      }
    }
  }
}

bool Replanner::has_straggler(const Slowdowns& stages) const {
  return std::any_of(stages.begin(), stages.end(), [&](const std::vector<double>& group) {
    return std::any_of(group.begin(), group.end(), [&](double x) { return is_straggler(x); });
  });
}

Option Replanner::option(const Slowdowns& stages, Change change) const {
  Option result;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const std::vector<double>& group = stages[s];
    const double threshold =
        change == Change::keep ? std::numeric_limits<double>::infinity() : job_.threshold;
    for (const std::vector<int>& piece : regroup(group, threshold)) {
      const bool is_slow = is_straggler(group[static_cast<std::size_t>(piece.front())]);
      if (change == Change::drop && is_slow) continue;
      std::vector<DevicePlace>& devices = result.devices.emplace_back();
      for (const int index : piece) devices.push_back({static_cast<int>(s), index});
    }
  }
  if (has_straggler(stages)) reorder(stages, result);
  const std::size_t count = result.devices.size();
  for (std::size_t s = 0; s < count; ++s) {
    const std::vector<DevicePlace>& group = result.devices[s];
    const int holds = job_.layers_max(static_cast<int>(s), static_cast<int>(count),
                                      static_cast<int>(group.size()));
    result.speeds.push_back(
        {.rate = rate(stages, group), .layers_max = holds, .extra = job_.ends.at(s, count)});
  }
  return result;
}

void Replanner::reorder(const Slowdowns& stages, Option& option) const {
  if (order_ == StageOrder::in_place) return;
  std::stable_sort(option.devices.begin(), option.devices.end(), [&](const auto& a, const auto& b) {
    const double of_a = rate(stages, a), of_b = rate(stages, b);
    return order_ == StageOrder::slow_first ? of_a > of_b : of_a < of_b;
  });
}

double Replanner::rate(const Slowdowns& stages, const std::vector<DevicePlace>& group) const {
  const std::size_t degree = group.size(), full = stages.front().size();
  invariant(is_power_of_two(full) && is_power_of_two(degree) && degree <= full,
            "tensor groups are of one size, a power of two");
  const auto halvings = static_cast<std::size_t>(std::countr_zero(full / degree));
  invariant(halvings < job_.penalties.size(), "every degree below the full one has a penalty");
  std::vector<double> slowdowns;
  for (const DevicePlace& device : group) {
    slowdowns.push_back(
        stages[static_cast<std::size_t>(device.stage)][static_cast<std::size_t>(device.index)]);
  }
  return group_rate(slowdowns, job_.penalties[halvings]);
}

Change Replanner::fastest(std::size_t replica) const {
  Change result = Change::keep;
  std::optional<double> least;
  for (std::size_t i = 0; i < options_[replica].size(); ++i) {
    const std::optional<LayerSplit> split = split_layers(job_.layers, options_[replica][i].speeds);
    if (split && (!least || split->slowest < *least)) {
      least = split->slowest;
      result = changes[i];
    }
  }
  return result;
}

std::optional<Replanning> Replanner::replanning(std::vector<Change> chosen) const {
  Replanning result;
  std::vector<std::vector<StageSpeed>> speeds;
  for (std::size_t r = 0; r < options_.size(); ++r) {
    if (options_[r].size() == 1) chosen[r] = Change::keep;
    const Option& option = options_[r][static_cast<std::size_t>(chosen[r])];
    speeds.push_back(option.speeds);
    result.devices.push_back(option.devices);
  }
  std::optional<UnevenSplit> split =
      uneven_split(speeds, job_.layers, job_.micro_batches, job_.fills);
  if (!split) return std::nullopt;
  result.changes = std::move(chosen);
  result.order = order_;
  result.split = *std::move(split);
  return result;
}

std::vector<Replanning> Replanner::all() const {
  std::vector<std::vector<Change>> candidates;
  for (const Change change : changes) candidates.emplace_back(options_.size(), change);
  std::vector<Change> each;
  for (std::size_t r = 0; r < options_.size(); ++r) each.push_back(fastest(r));
  candidates.insert(candidates.begin() + 1, std::move(each));
  std::vector<Replanning> result;
  for (std::vector<Change>& candidate : candidates) {
    std::optional<Replanning> next = replanning(std::move(candidate));
    if (next) result.push_back(*std::move(next));
  }
  return result;
}

bool comes_to_the_same(const Replanning& a, const Replanning& b) {
  return a.devices == b.devices && a.split.layers == b.split.layers &&
         a.split.micro_batches == b.split.micro_batches;
}

}  // namespace

std::vector<std::vector<int>> regroup(std::span<const double> slowdowns, double threshold) {
  invariant(is_power_of_two(slowdowns.size()), "the size of a tensor group is a power of two");
  std::vector<std::vector<int>> groups;
  std::vector<int> left;
  for (std::size_t i = 0; i < slowdowns.size(); ++i) {
    const int device = static_cast<int>(i);
    if (slowdowns[i] > threshold) {
      groups.push_back({device});
    } else {
      left.push_back(device);
    }
  }
  // From the largest on, so that aligned blocks are whole; put in front of those before.
  const auto stragglers = static_cast<std::ptrdiff_t>(groups.size());
  while (!left.empty()) {
    const int size = static_cast<int>(std::bit_floor(left.size()));
    groups.insert(groups.begin() + stragglers, take_group(left, size));
  }
  return groups;
}

std::vector<Replanning> uneven_splits(const UnevenJob& job) {
  std::vector<Replanning> result;
  for (const StageOrder order : orders) {
    for (Replanning& next : Replanner(job, order).all()) {
      const bool is_known = std::any_of(result.begin(), result.end(), [&](const Replanning& known) {
        return comes_to_the_same(known, next);
      });
      if (!is_known) result.push_back(std::move(next));
    }
  }
  return result;
}

std::optional<Replanning> best_uneven_split(const UnevenJob& job) {
  std::vector<Replanning> all = uneven_splits(job);
  const auto best = std::min_element(
      all.begin(), all.end(),
      [](const Replanning& a, const Replanning& b) { return a.split.longest < b.split.longest; });
  if (best == all.end()) return std::nullopt;
  return std::move(*best);
}

}  // namespace sim::plan
