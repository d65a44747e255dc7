// The ranks of a job as a grid: coordinates, rank groups.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/plan/plan.h"

namespace sim::plan {

struct Coordinates {
  int tensor = 0, context = 0, data = 0, pipeline = 0;
  bool operator==(const Coordinates&) const = default;
};

class RankGrid {
 public:
  explicit RankGrid(const Plan& plan);
  int ranks() const;
  // Whether a device runs a rank, which has its number. Ascending.
  bool holds(int device) const;
  std::vector<int> held() const;
  // Of replicas that are alike.
  int extent(Dimension dimension) const { return extent_[static_cast<std::size_t>(dimension)]; }
  // Between ranks that are neighbours in this dimension.
  int stride(Dimension dimension) const { return stride_[static_cast<std::size_t>(dimension)]; }
  Coordinates coordinates(int rank) const;
  int rank(const Coordinates& coordinates) const;
  // The ranks that differ from `rank` in this dimension only, in ascending coordinate; includes it.
  // REQUIRES: the tensor dimension, or replicas that are alike.
  std::vector<int> group(Dimension dimension, int rank) const;
  // Those that hold the same parameters: they differ in data and context. Ascending.
  std::vector<int> sharers(int rank) const;
  // Of these, those that hold shares of one copy: neighbours in ascending order; and those that
  // hold the same share of every copy.
  std::vector<int> shard_group(int rank) const;
  std::vector<int> copies(int rank) const;
  // Experts are cut over the tensor, context and data ranks of a stage, numbered innermost first:
  // expert_tensor x expert x expert data, or in the plan's order.
  // Source: Liu et al., "MoE Parallel Folding", 2025, section 3.
  int extent(ExpertDimension dimension) const {
    return expert_extent_[static_cast<std::size_t>(dimension)];
  }
  std::vector<int> group(ExpertDimension dimension, int rank) const;
  int coordinate(ExpertDimension dimension, int rank) const;

 private:
  explicit RankGrid(const std::vector<Replica>& replicas);
  bool are_unlike() const { return !stages_.empty(); }
  int place_in_stage(int rank) const;
  int rank_at(int place, int pipeline) const;

  std::array<int, 4> extent_{}, stride_{};                // by Dimension
  std::array<int, 3> expert_extent_{}, expert_stride_{};  // by ExpertDimension, of places
  int shard_ranks_ = 1;
  // Of unlike replicas.
  std::vector<std::vector<std::vector<int>>> stages_;  // [replica][stage][tensor] device
  std::vector<Coordinates> coordinates_;               // [device] data is -1 where there is no rank
  std::array<Dimension, 3> in_stage_{};                // innermost first
};

}  // namespace sim::plan
