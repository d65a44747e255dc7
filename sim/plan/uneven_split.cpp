// Units of work, layers or micro-batches, dealt one by one.
#include "sim/plan/uneven_split.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include "sim/base/invariant.h"

namespace sim::plan {

namespace {

struct Part {
  double rate = 1;
  int least = 0, most = 0;
  double extra = 0;

  double takes(int count) const { return rate * (count + extra); }
};

struct Shares {
  std::vector<int> counts;
  double largest = 0;  // that a part takes
};

using Key = std::pair<double, double>;

// Each unit goes to the part with the least key, the first of equals; no key: it has no room.
template <class KeyOf>
std::vector<int> deal(std::int64_t total, const std::vector<Part>& parts, KeyOf key_of) {
  using Entry = std::pair<Key, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  std::vector<int> counts;
  const auto offer = [&](std::size_t i) {
    if (const std::optional<Key> key = key_of(parts[i], counts[i])) open.emplace(*key, i);
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    counts.push_back(parts[i].least);
    total -= parts[i].least;
    offer(i);
  }
  for (; total > 0; --total) {
    invariant(!open.empty(), "parts have no room for what is dealt to them");
    const std::size_t i = open.top().second;
    open.pop();
    ++counts[i];
    offer(i);
  }
  return counts;
}

std::optional<Shares> least_largest(int total, const std::vector<Part>& parts) {
  std::int64_t least = 0, most = 0;
  for (const Part& part : parts) {
    invariant(part.rate > 0, "a part that works takes time");
    if (part.least > part.most) return std::nullopt;
    least += part.least, most += part.most;
  }
  if (parts.empty() || total < least || total > most) return std::nullopt;
  // What a part takes grows with its count. So the units that were dealt in this order are those
  // with the least of it, and no other choice of so many has a smaller largest one.
  const std::vector<int> counts = deal(total, parts, [](const Part& part, int count) {
    return count < part.most ? std::optional(Key(part.takes(count + 1), 0)) : std::nullopt;
  });
  Shares shares;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    shares.largest = std::max(shares.largest, parts[i].takes(counts[i]));
  }
  // What stays within it is dealt once more, to fast parts first.
  shares.counts = deal(total, parts, [&](const Part& part, int count) {
    const bool has_room = count < part.most && part.takes(count + 1) <= shares.largest;
    return has_room ? std::optional(Key(part.rate, count + part.extra)) : std::nullopt;
  });
  return shares;
}

}  // namespace

double group_rate(std::span<const double> slowdowns, double penalty) {
  invariant(!slowdowns.empty(), "a tensor group has devices");
  return penalty * *std::max_element(slowdowns.begin(), slowdowns.end());
}

std::optional<LayerSplit> split_layers(int layers, std::span<const StageSpeed> stages) {
  std::vector<Part> parts;
  for (const StageSpeed& stage : stages) {
    parts.push_back(
        {.rate = stage.rate, .least = 1, .most = stage.layers_max, .extra = stage.extra});
  }
  std::optional<Shares> shares = least_largest(layers, parts);
  if (!shares) return std::nullopt;
  return LayerSplit{.layers = std::move(shares->counts), .slowest = shares->largest};
}

PipelineSpeed pipeline_speed(std::span<const StageSpeed> stages, std::span<const int> layers) {
  double slowest = 0, all = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const double takes = stages[s].rate * (layers[s] + stages[s].extra);
    slowest = std::max(slowest, takes);
    all += takes;
  }
  return {.slowest = slowest, .least = static_cast<int>(stages.size()), .fill = all / slowest - 1};
}

std::optional<BatchSplit> split_micro_batches(int total, std::span<const PipelineSpeed> pipelines) {
  std::vector<Part> parts;
  for (const PipelineSpeed& pipeline : pipelines) {
    parts.push_back(
        {.rate = pipeline.slowest, .least = pipeline.least, .most = total, .extra = pipeline.fill});
  }
  std::optional<Shares> shares = least_largest(total, parts);
  if (!shares) return std::nullopt;
  return BatchSplit{.micro_batches = std::move(shares->counts), .longest = shares->largest};
}

std::optional<UnevenSplit> uneven_split(std::span<const std::vector<StageSpeed>> pipelines,
                                        int layers, int micro_batches, bool fills) {
  UnevenSplit result;
  std::vector<PipelineSpeed> speeds;
  for (const std::vector<StageSpeed>& stages : pipelines) {
    std::optional<LayerSplit> split = split_layers(layers, stages);
    if (!split) return std::nullopt;
    speeds.push_back(pipeline_speed(stages, split->layers));
    if (!fills) speeds.back().fill = 0;
    result.layers.push_back(std::move(split->layers));
  }
  std::optional<BatchSplit> batches = split_micro_batches(micro_batches, speeds);
  if (!batches) return std::nullopt;
  result.micro_batches = std::move(batches->micro_batches);
  result.longest = batches->longest;
  return result;
}

}  // namespace sim::plan
