// Mixed-radix rank numbers.
#include "sim/plan/rank_grid.h"

#include <cstddef>

#include "sim/base/invariant.h"

namespace sim::plan {

namespace {

constexpr std::size_t index_of(Dimension dimension) { return static_cast<std::size_t>(dimension); }

}  // namespace

RankGrid::RankGrid(const Plan& plan) {
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
}

int RankGrid::ranks() const { return extent_[0] * extent_[1] * extent_[2] * extent_[3]; }

Coordinates RankGrid::coordinates(int rank) const {
  invariant(rank >= 0 && rank < ranks(), "a rank is outside the grid");
  const auto along = [&](Dimension dimension) {
    return rank / stride_[index_of(dimension)] % extent_[index_of(dimension)];
  };
  return {along(Dimension::tensor), along(Dimension::context), along(Dimension::data),
          along(Dimension::pipeline)};
}

int RankGrid::rank(const Coordinates& c) const {
  return c.tensor * stride_[index_of(Dimension::tensor)] +
         c.context * stride_[index_of(Dimension::context)] +
         c.data * stride_[index_of(Dimension::data)] +
         c.pipeline * stride_[index_of(Dimension::pipeline)];
}

std::vector<int> RankGrid::group(Dimension dimension, int rank) const {
  const int stride = stride_[index_of(dimension)];
  const int extent = extent_[index_of(dimension)];
  const int first = rank - rank / stride % extent * stride;
  std::vector<int> result;
  for (int i = 0; i < extent; ++i) result.push_back(first + i * stride);
  return result;
}

}  // namespace sim::plan
