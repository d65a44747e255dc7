// How unevenly a router spreads tokens over the experts of a layer.
#pragma once

#include <cstdint>
#include <vector>

namespace sim::plan {

struct Routing {
  enum class Distribution {
    balanced,
    zipf,       // the i-th most popular expert has a share in proportion to i^-exponent
    histogram,  // as measured
  };
  // Which expert is how popular. Every iteration is alike.
  enum class Draw {
    fixed,      // the same in all layers: of zipf one shuffled order, a histogram as it is listed
    per_layer,  // shuffled for each layer
    per_micro_batch,  // and for each micro-batch
  };
  Distribution distribution = Distribution::balanced;
  double exponent = 1;
  std::vector<double> histogram;  // [expert] any unit
  Draw draw = Draw::fixed;
  bool are_groups_alike = true;  // or the experts of each expert group are shuffled for themselves
  std::uint64_t seed = 1;

  bool is_even() const { return distribution == Distribution::balanced; }
};

// Where a routing is asked for; what it does not depend on makes no difference.
struct RoutingPlace {
  int layer = 0, micro_batch = 0, group = 0;
};

// [expert] rows against those of an even routing; their mean is 1.
// REQUIRES: a histogram has `count` shares (problems() says so).
std::vector<double> expert_loads(const Routing& routing, int count, const RoutingPlace& place);

// Of the experts on one rank.
struct RankLoad {
  double load = 1;       // rows of all together against an even routing
  double imbalance = 1;  // rows of the largest against their mean
  bool operator==(const RankLoad&) const = default;
};
// [rank of an expert group] `count` experts in equal blocks over `ranks`.
// Worked: 4 experts with shares 4, 2, 1, 1 on 2 ranks: loads 6 / 4 and 2 / 4 of even, imbalance
// 4 / 3 and 1.
std::vector<RankLoad> rank_loads(const Routing& routing, int count, int ranks,
                                 const RoutingPlace& place);

}  // namespace sim::plan
