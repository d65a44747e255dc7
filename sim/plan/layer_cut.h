// Layers that are cut otherwise than the rest of the plan says.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/dnn/operators.h"

namespace sim::plan {

struct Plan;
struct Problem;
enum class Sharding { none, zero1, zero2, zero3 };

// Layers from `from` to `to`; what is empty is as the plan says.
struct LayerCut {
  int from = 0, to = 0;
  std::optional<int> tensor;  // ranks that share a layer; the others of a tensor group have other
                              // sequences of the micro-batch
  std::optional<Sharding> sharding;
  std::optional<dnn::Recompute> recompute;
};

struct LayerStrategy {
  int tensor = 1;
  Sharding sharding = Sharding::none;
  dnn::Recompute recompute = dnn::Recompute::none;
  auto operator<=>(const LayerStrategy&) const = default;
};
// Of the last entry that has the layer.
LayerStrategy strategy_of(const Plan& plan, int layer);

// Layers whose parameters the same ranks hold and shard alike: all that are cut as the plan says
// come first.
struct Holding {
  int tensor = 1;
  Sharding sharding = Sharding::none;
  bool operator==(const Holding&) const = default;
};
std::vector<Holding> holdings(const Plan& plan);
std::size_t holding_of(const std::vector<Holding>& holdings, const LayerStrategy& strategy);
// The plan as it is for these layers: their tensor degree and sharding, with the ranks that are not
// tensor ranks any more among those of data.
Plan plan_of(const Plan& plan, const Holding& holding);

// Of problems(): why these layers cannot be cut so.
std::vector<Problem> layer_problems(const Plan& plan, const dnn::Transformer& dnn);

}  // namespace sim::plan
