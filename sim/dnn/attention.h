// The attention core: everything between the query, key and value projection and the output one,
// with what the context group exchanges for it.
#pragma once

#include <vector>

#include "sim/dnn/operators.h"

namespace sim::dnn {

// REQUIRES: no context_obstacle().
std::vector<Operator> attention_forward(const Transformer& dnn, const Shard& shard,
                                        const SoftwareStack& stack, const LayerKind& kind = {});
std::vector<Operator> attention_backward(const Transformer& dnn, const Shard& shard,
                                         const SoftwareStack& stack, const LayerKind& kind = {});

}  // namespace sim::dnn
