// The attention core: everything between the query, key and value projection and the output one.
#pragma once

#include <vector>

#include "sim/dnn/operators.h"

namespace sim::dnn {

std::vector<Operator> attention_forward(const Transformer& dnn, const Shard& shard,
                                        const SoftwareStack& stack);
std::vector<Operator> attention_backward(const Transformer& dnn, const Shard& shard,
                                         const SoftwareStack& stack);

}  // namespace sim::dnn
