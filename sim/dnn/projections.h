// From the hidden state to queries, keys and values: projections, norms, positions.
#pragma once

#include "sim/dnn/operator_list.h"

namespace sim::dnn {

void projections_forward(OperatorList& list, const LayerKind& kind);
// What comes between a plain projection and attention: norms of queries and keys, rotation.
void positions_forward(OperatorList& list, const LayerKind& kind);
void projections_backward(OperatorList& list, const LayerKind& kind);

}  // namespace sim::dnn
