// Multi-token prediction: a module sees the hidden state of the one before it and the embedding of
// one more token, projects both to one hidden state, runs a layer and predicts with the shared
// head. Source: DeepSeek-AI, "DeepSeek-V3", 2024, section 2.2, and Megatron-LM,
// megatron/core/transformer/ multi_token_prediction.py: the projection is split by columns and its
// outputs are gathered.
#include <algorithm>

#include "sim/dnn/pointwise.h"

namespace sim::dnn {
namespace {

Linear projection(const OperatorList& list) {
  const std::int64_t outputs = (list.dnn.hidden + list.shard.tensor - 1) / list.shard.tensor;
  return {"prediction projection", 2 * list.dnn.hidden, outputs, Linear::Split::columns, false};
}

double whole_bytes(const OperatorList& list) {
  return static_cast<double>(list.sizes.tokens) * static_cast<double>(list.dnn.hidden) *
         list.sizes.element;
}

// Two norms, and one state behind the other: read and written once more.
void entry_forward(OperatorList& list) {
  const int kernels = 2 * eager_norm_kernels(list.dnn);
  list.pointwise({"prediction norms", 2 * split_elements(list), 2, 0, 2, kernels});
  list.pointwise({"prediction concatenation", 2 * split_elements(list), 2});
  list.forward(projection(list));
  list.collective("prediction projection all-gather", Collective::all_gather, whole_bytes(list));
}

void entry_backward(OperatorList& list) {
  const int kernels = 4 * eager_norm_kernels(list.dnn) + 2;
  if (list.sizes.is_sequence_parallel) {
    list.collective("prediction projection gradient all-gather", Collective::all_gather,
                    whole_bytes(list));
  }
  list.backward(projection(list));
  list.pointwise({"prediction concatenation gradient", 2 * split_elements(list), 2});
  list.pointwise({"prediction norms gradient", 2 * split_elements(list), 3, 0, 4, kernels});
}

}  // namespace

LayerOperators prediction_operators(const Transformer& dnn, const Shard& shard,
                                    const SoftwareStack& stack, Recompute recompute) {
  const LayerOperators embedding = embedding_operators(dnn, shard, stack);
  const LayerOperators layer = layer_operators(dnn, shard, stack, recompute, prediction_kind(dnn));
  const LayerOperators head = head_operators(dnn, shard, stack);
  LayerOperators result;
  OperatorList list(dnn, shard, stack);
  list.append(embedding.forward);
  entry_forward(list);
  list.append(layer.forward);
  list.append(head.forward);
  result.forward = list.take();
  OperatorList reverse(dnn, shard, stack);
  reverse.append(head.backward);
  for (const Operator& o : layer.backward) reverse.push(o);  // some are recomputed
  entry_backward(reverse);
  reverse.append(embedding.backward);
  result.backward = reverse.take();
  return result;
}

}  // namespace sim::dnn
