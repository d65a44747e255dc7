// Mixed-radix rank numbers.
#include "sim/plan/rank_grid.h"

#include <algorithm>
#include <cstddef>

#include "sim/base/invariant.h"

namespace sim::plan {

namespace {

constexpr std::size_t index_of(Dimension dimension) { return static_cast<std::size_t>(dimension); }

}  // namespace

RankGrid::RankGrid(const std::vector<Replica>& replicas) {
  for (std::size_t r = 0; r < replicas.size(); ++r) {
    const Replica& replica = replicas[r];
    auto device = replica.devices.begin();
    auto& stages = stages_.emplace_back();
    for (std::size_t stage = 0; stage < replica.tensor.size(); ++stage) {
      auto& group = stages.emplace_back();
      for (int tensor = 0; tensor < replica.tensor[stage]; ++tensor, ++device) {
        const auto index = static_cast<std::size_t>(*device);
        if (coordinates_.size() <= index) coordinates_.resize(index + 1, {0, 0, -1, 0});
        invariant(coordinates_[index].data < 0, "a device runs two ranks");
        coordinates_[index] = {tensor, 0, static_cast<int>(r), static_cast<int>(stage)};
        group.push_back(*device);
      }
    }
  }
}

RankGrid::RankGrid(const Plan& plan) {
  if (!plan.replicas.empty()) {
    *this = RankGrid(plan.replicas);
    return;
  }
  extent_[index_of(Dimension::tensor)] = plan.tensor;
  extent_[index_of(Dimension::context)] = plan.context;
  extent_[index_of(Dimension::data)] = plan.data;
  extent_[index_of(Dimension::pipeline)] = plan.stages;
  int stride = 1;
  for (const Dimension dimension : plan.order) {
    invariant(stride_[index_of(dimension)] == 0, "a dimension stands twice in the order of ranks");
    stride_[index_of(dimension)] = stride;
    stride *= extent_[index_of(dimension)];
  }
  std::remove_copy(plan.order.begin(), plan.order.end(), in_stage_.begin(), Dimension::pipeline);
  shard_ranks_ = plan.shard_ranks();
  expert_extent_ = {plan.expert_tensor, plan.expert, plan.expert_sharers()};
  int expert_stride = 1;
  for (const ExpertDimension dimension : plan.expert_order) {
    const auto index = static_cast<std::size_t>(dimension);
    expert_stride_[index] = expert_stride;
    expert_stride *= expert_extent_[index];
  }
}

int RankGrid::ranks() const {
  if (are_unlike()) return static_cast<int>(held().size());
  return extent_[0] * extent_[1] * extent_[2] * extent_[3];
}

bool RankGrid::holds(int device) const {
  if (!are_unlike()) return device >= 0 && device < ranks();
  return device >= 0 && static_cast<std::size_t>(device) < coordinates_.size() &&
         coordinates_[static_cast<std::size_t>(device)].data >= 0;
}

std::vector<int> RankGrid::held() const {
  std::vector<int> result;
  const int end = are_unlike() ? static_cast<int>(coordinates_.size()) : ranks();
  for (int device = 0; device < end; ++device) {
    if (holds(device)) result.push_back(device);
  }
  return result;
}

Coordinates RankGrid::coordinates(int rank) const {
  if (are_unlike()) {
    invariant(holds(rank), "a device without a rank");
    return coordinates_[static_cast<std::size_t>(rank)];
  }
  invariant(rank >= 0 && rank < ranks(), "a rank is outside the grid");
  const auto along = [&](Dimension dimension) {
    return rank / stride_[index_of(dimension)] % extent_[index_of(dimension)];
  };
  return {along(Dimension::tensor), along(Dimension::context), along(Dimension::data),
          along(Dimension::pipeline)};
}

int RankGrid::rank(const Coordinates& c) const {
  if (are_unlike()) {
    return stages_[static_cast<std::size_t>(c.data)][static_cast<std::size_t>(c.pipeline)]
                  [static_cast<std::size_t>(c.tensor)];
  }
  return c.tensor * stride_[index_of(Dimension::tensor)] +
         c.context * stride_[index_of(Dimension::context)] +
         c.data * stride_[index_of(Dimension::data)] +
         c.pipeline * stride_[index_of(Dimension::pipeline)];
}

std::vector<int> RankGrid::group(Dimension dimension, int rank) const {
  if (are_unlike()) {
    invariant(dimension == Dimension::tensor, "unlike replicas have no such rank groups");
    const Coordinates c = coordinates(rank);
    return stages_[static_cast<std::size_t>(c.data)][static_cast<std::size_t>(c.pipeline)];
  }
  const int stride = stride_[index_of(dimension)];
  const int extent = extent_[index_of(dimension)];
  const int first = rank - rank / stride % extent * stride;
  std::vector<int> result;
  for (int i = 0; i < extent; ++i) result.push_back(first + i * stride);
  return result;
}

std::vector<int> RankGrid::sharers(int rank) const {
  std::vector<int> result;
  for (const int replica : group(Dimension::data, rank)) {
    for (const int one : group(Dimension::context, replica)) result.push_back(one);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<int> RankGrid::shard_group(int rank) const {
  const std::vector<int> all = sharers(rank);
  const auto place = std::find(all.begin(), all.end(), rank) - all.begin();
  const auto first = all.begin() + place / shard_ranks_ * shard_ranks_;
  return {first, first + shard_ranks_};
}

std::vector<int> RankGrid::copies(int rank) const {
  const std::vector<int> all = sharers(rank);
  const auto place =
      static_cast<std::size_t>(std::find(all.begin(), all.end(), rank) - all.begin());
  const auto step = static_cast<std::size_t>(shard_ranks_);
  std::vector<int> result;
  for (std::size_t i = place % step; i < all.size(); i += step) result.push_back(all[i]);
  return result;
}

// Number of a rank among those of its stage, in the order of placement.
int RankGrid::place_in_stage(int rank) const {
  int place = 0, stride = 1;
  for (const Dimension dimension : in_stage_) {
    place += rank / stride_[index_of(dimension)] % extent_[index_of(dimension)] * stride;
    stride *= extent_[index_of(dimension)];
  }
  return place;
}

int RankGrid::rank_at(int place, int pipeline) const {
  int rank = pipeline * stride_[index_of(Dimension::pipeline)];
  for (const Dimension dimension : in_stage_) {
    rank += place % extent_[index_of(dimension)] * stride_[index_of(dimension)];
    place /= extent_[index_of(dimension)];
  }
  return rank;
}

int RankGrid::coordinate(ExpertDimension dimension, int rank) const {
  const auto index = static_cast<std::size_t>(dimension);
  return place_in_stage(rank) / expert_stride_[index] % expert_extent_[index];
}

std::vector<int> RankGrid::group(ExpertDimension dimension, int rank) const {
  const auto index = static_cast<std::size_t>(dimension);
  const int pipeline = coordinates(rank).pipeline;
  const int first = place_in_stage(rank) - coordinate(dimension, rank) * expert_stride_[index];
  std::vector<int> result;
  for (int i = 0; i < expert_extent_[index]; ++i) {
    result.push_back(rank_at(first + i * expert_stride_[index], pipeline));
  }
  return result;
}

}  // namespace sim::plan
