// The format of plan.layers: layers that are cut otherwise than the rest.
#include "sim/scenario/tables.h"

namespace sim::scenario {

Section<plan::LayerCut> layer_table() {
  using plan::LayerCut;
  Section<LayerCut> table("layers that are cut otherwise; of several entries the last one counts");
  table.required("from", small_count(0), &LayerCut::from, "the first layer, counted from 0")
      .required("to", small_count(0), &LayerCut::to, "the last layer")
      .optional("tensor", small_count(1), &LayerCut::tensor,
                "ranks that share each of them, a divisor of plan.tensor; the groups of so many "
                "in a tensor group have sequences of their own")
      .optional("sharding", sharding_kind(), &LayerCut::sharding, "as plan.data.sharding")
      .optional("recompute", recompute_kind(), &LayerCut::recompute, "as plan.recompute");
  return table;
}

}  // namespace sim::scenario
