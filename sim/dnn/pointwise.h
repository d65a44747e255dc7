// Point-wise work that several blocks of a layer share.
#pragma once

#include "sim/dnn/operator_list.h"

namespace sim::dnn {

// Launches of an eager RMSNorm: square, mean, add, root, scale, cast; LayerNorm is one kernel.
inline int eager_norm_kernels(const Transformer& dnn) { return dnn.norm == Norm::rms_norm ? 6 : 1; }

inline double split_elements(const OperatorList& list) {
  return list.sizes.split_tokens * static_cast<double>(list.dnn.hidden);
}

// Between the two products of a feed-forward block; `elements` are those of its output.
inline void activation_forward(OperatorList& list, const char* name, double elements) {
  const bool is_gated = list.dnn.gated;
  list.pointwise({name, elements, is_gated ? 3.0 : 2.0, 0, 1, is_gated ? 2 : 1});
}
inline void activation_backward(OperatorList& list, const char* name, double elements) {
  const bool is_gated = list.dnn.gated;
  list.pointwise({name, elements, is_gated ? 5.0 : 3.0, 0, 1, is_gated ? 3 : 1});
}

}  // namespace sim::dnn
