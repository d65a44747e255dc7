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
  int extent(Dimension dimension) const { return extent_[static_cast<std::size_t>(dimension)]; }
  // Between ranks that are neighbours in this dimension.
  int stride(Dimension dimension) const { return stride_[static_cast<std::size_t>(dimension)]; }
  Coordinates coordinates(int rank) const;
  int rank(const Coordinates& coordinates) const;
  // The ranks that differ from `rank` in this dimension only, in ascending coordinate; includes it.
  std::vector<int> group(Dimension dimension, int rank) const;

 private:
  std::array<int, 4> extent_{}, stride_{};  // by Dimension
};

}  // namespace sim::plan
