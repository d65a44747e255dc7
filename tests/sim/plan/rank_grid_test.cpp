// Ranks as a grid, by hand and over all orders of small grids.
#include "sim/plan/rank_grid.h"

#include <algorithm>
#include <set>
#include <string>

#include "tests/approximately.h"

using namespace sim::plan;

namespace {

constexpr Dimension all_dimensions[] = {Dimension::tensor, Dimension::context, Dimension::data,
                                        Dimension::pipeline};

int along(const Coordinates& c, Dimension dimension) {
  const int values[] = {c.tensor, c.context, c.data, c.pipeline};
  return values[static_cast<int>(dimension)];
}

// All groups of a dimension, by lowest rank.
std::vector<std::vector<int>> groups(const RankGrid& grid, Dimension dimension) {
  std::vector<std::vector<int>> result;
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    if (along(grid.coordinates(rank), dimension) == 0)
      result.push_back(grid.group(dimension, rank));
  }
  return result;
}

void check_grid(const Plan& plan) {
  const RankGrid grid(plan);
  CHECK(grid.ranks() == plan.ranks());
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    CHECK(grid.rank(grid.coordinates(rank)) == rank);
  }
  for (const Dimension dimension : all_dimensions) {
    std::set<int> seen;
    int last_lowest = -1;
    for (const std::vector<int>& group : groups(grid, dimension)) {
      CHECK(group.front() > last_lowest);
      last_lowest = group.front();
      for (std::size_t i = 0; i < group.size(); ++i) {
        CHECK(seen.insert(group[i]).second);
        CHECK(grid.group(dimension, group[i]) == group);
        CHECK(along(grid.coordinates(group[i]), dimension) == static_cast<int>(i));
        for (const Dimension other : all_dimensions) {
          if (other == dimension) continue;
          CHECK(along(grid.coordinates(group[i]), other) ==
                along(grid.coordinates(group[0]), other));
        }
      }
    }
    CHECK(static_cast<int>(seen.size()) == grid.ranks());  // the groups partition the ranks
  }
}

}  // namespace

TEST_CASE("rank grid: tensor 2, data 3, pipeline 2 in Megatron's order") {
  // rank = t + 2 d + 6 p, so rank 9 = 1 + 2 x 1 + 6 x 1.
  Plan plan;
  plan.tensor = 2, plan.data = 3, plan.stages = 2;
  const RankGrid grid(plan);
  CHECK(grid.ranks() == 12);
  CHECK(grid.coordinates(9) == Coordinates{1, 0, 1, 1});
  CHECK(grid.group(Dimension::tensor, 9) == std::vector{8, 9});
  CHECK(grid.group(Dimension::data, 9) == std::vector{7, 9, 11});
  CHECK(grid.group(Dimension::pipeline, 9) == std::vector{3, 9});
  CHECK(grid.group(Dimension::context, 9) == std::vector{9});
  CHECK(groups(grid, Dimension::data) ==
        std::vector<std::vector<int>>{{0, 2, 4}, {1, 3, 5}, {6, 8, 10}, {7, 9, 11}});
}

TEST_CASE("rank grid: pipeline innermost puts the stages of a replica side by side") {
  Plan plan;
  plan.tensor = 2, plan.stages = 4;
  plan.order = {Dimension::pipeline, Dimension::tensor, Dimension::data, Dimension::context};
  const RankGrid grid(plan);
  CHECK(grid.group(Dimension::pipeline, 5) == std::vector{4, 5, 6, 7});
  CHECK(grid.group(Dimension::tensor, 5) == std::vector{1, 5});
}

TEST_CASE("rank grid: numbers and coordinates are inverse, groups partition, in all 24 orders") {
  Plan plan;
  std::sort(plan.order.begin(), plan.order.end());
  int orders = 0;
  do {
    for (int extents = 0; extents < 81; ++extents) {
      plan.tensor = extents % 3 + 1, plan.context = extents / 3 % 3 + 1;
      plan.data = extents / 9 % 3 + 1, plan.stages = extents / 27 + 1;
      check_grid(plan);
    }
    ++orders;
  } while (std::next_permutation(plan.order.begin(), plan.order.end()));
  CHECK(orders == 24);
}

TEST_CASE("dimensions have the names of scenarios") {
  std::string names;
  for (const Dimension dimension : all_dimensions) names += std::string(name(dimension)) + " ";
  CHECK(names == "tensor context data pipeline ");
}

// Megatron-LM's order: 2 tensor ranks, 2 context ranks and 4 replicas of a stage are 16 places, of
// which 2 make an expert, and 4 such pairs all experts.
TEST_CASE("rank grid: experts are cut over the ranks of a stage, innermost first") {
  Plan plan;
  plan.tensor = 2, plan.context = 2, plan.data = 4, plan.stages = 2;
  plan.expert_tensor = 2, plan.expert = 4;
  const RankGrid grid(plan);
  CHECK(grid.extent(ExpertDimension::data) == 2);
  CHECK(grid.group(ExpertDimension::tensor, 5) == std::vector<int>{4, 5});
  CHECK(grid.group(ExpertDimension::expert, 5) == std::vector<int>{1, 3, 5, 7});
  CHECK(grid.group(ExpertDimension::data, 5) == std::vector<int>{5, 13});
  CHECK(grid.coordinate(ExpertDimension::expert, 5) == 2);
  // The second stage has ranks 16 to 31.
  CHECK(grid.group(ExpertDimension::expert, 21) == std::vector<int>{17, 19, 21, 23});
  CHECK(grid.sharers(5) == std::vector<int>{1, 3, 5, 7, 9, 11, 13, 15});
}

// With stages innermost, ranks 0, 2, 4, ... are of the first one.
TEST_CASE("rank grid: experts with the pipeline innermost") {
  Plan plan;
  plan.tensor = 2, plan.data = 4, plan.stages = 2, plan.expert = 4;
  plan.order = {Dimension::pipeline, Dimension::tensor, Dimension::context, Dimension::data};
  const RankGrid grid(plan);
  CHECK(grid.group(ExpertDimension::expert, 0) == std::vector<int>{0, 2, 4, 6});
  CHECK(grid.group(ExpertDimension::expert, 9) == std::vector<int>{9, 11, 13, 15});
  CHECK(grid.group(ExpertDimension::data, 3) == std::vector<int>{3, 11});
}

TEST_CASE("rank grid: every way to cut experts puts each rank of a stage into one group") {
  for (const int tensor : {1, 2}) {
    for (const int context : {1, 3}) {
      for (const int expert : {1, 2, 4}) {
        for (const int expert_tensor : {1, 2}) {
          Plan plan;
          plan.tensor = tensor, plan.context = context, plan.data = 8, plan.stages = 2;
          plan.expert = expert, plan.expert_tensor = expert_tensor;
          const RankGrid grid(plan);
          for (const auto dimension :
               {ExpertDimension::tensor, ExpertDimension::expert, ExpertDimension::data}) {
            for (int rank = 0; rank < grid.ranks(); ++rank) {
              const std::vector<int> group = grid.group(dimension, rank);
              const auto place = static_cast<std::size_t>(grid.coordinate(dimension, rank));
              REQUIRE(group.at(place) == rank);
              for (const int other : group) {
                REQUIRE(grid.group(dimension, other) == group);
                REQUIRE(grid.coordinates(other).pipeline == grid.coordinates(rank).pipeline);
              }
            }
          }
        }
      }
    }
  }
}

// Two tensor ranks; those of one that hold the same parameters are 0, 2, 4, ... 14.
TEST_CASE("rank grid: shares of one copy are neighbours, copies stand apart") {
  Plan plan;
  plan.tensor = 2, plan.data = 8, plan.shard = 4;
  const RankGrid grid(plan);
  CHECK(plan.copies() == 2);
  CHECK(grid.shard_group(4) == std::vector<int>{0, 2, 4, 6});
  CHECK(grid.shard_group(13) == std::vector<int>{9, 11, 13, 15});
  CHECK(grid.copies(4) == std::vector<int>{4, 12});
  CHECK(grid.copies(15) == std::vector<int>{7, 15});
}

// 2 tensor x 4 data ranks of one stage; experts over 4 of them, without tensor ranks of their own.
TEST_CASE("rank grid: experts cut over data ranks first") {
  Plan plan;
  plan.tensor = 2, plan.data = 4, plan.expert = 4;
  CHECK(RankGrid(plan).group(ExpertDimension::expert, 0) == std::vector<int>{0, 1, 2, 3});
  CHECK(RankGrid(plan).group(ExpertDimension::data, 0) == std::vector<int>{0, 4});
  plan.expert_order = {ExpertDimension::data, ExpertDimension::tensor, ExpertDimension::expert};
  CHECK(RankGrid(plan).group(ExpertDimension::expert, 0) == std::vector<int>{0, 2, 4, 6});
  CHECK(RankGrid(plan).group(ExpertDimension::data, 0) == std::vector<int>{0, 1});
  CHECK(RankGrid(plan).coordinate(ExpertDimension::expert, 5) == 2);
}
