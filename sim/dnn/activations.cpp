// How much memory activations take: what is kept, and the largest temporary beside it.
#include <algorithm>

#include "sim/dnn/experts.h"

namespace sim::dnn {
namespace {

double sum_of(const std::vector<SavedTensor>& tensors, Recompute recompute) {
  double sum = 0;
  for (const SavedTensor& t : tensors) {
    const bool is_kept = recompute == Recompute::none ||
                         (recompute == Recompute::selective && !t.is_attention_core) ||
                         t.is_layer_input;
    const double share = recompute == Recompute::alternate ? t.alternate_share : 0;
    sum += t.elements * t.bytes_per_element * (is_kept ? 1 : share);
  }
  return sum;
}

// Gradients of both sides of the activation of a feed-forward block. Sequence parallelism adds a
// gathered gradient and a gathered input. Experts add the gradients of their rows.
double block_elements(const Transformer& dnn, const Shard& shard, const LocalSizes& sizes,
                      const LayerKind& kind) {
  const auto tokens = static_cast<double>(sizes.tokens);
  const auto hidden = static_cast<double>(dnn.hidden);
  const double gathered = sizes.is_sequence_parallel ? 2 * tokens * hidden : 0;
  if (!kind.is_moe) return tokens * static_cast<double>(sizes.ffn + sizes.mlp_inputs) + gathered;
  const ExpertSizes experts(dnn, shard, sizes);
  const double shared = static_cast<double>(experts.shared_ffn + experts.shared_inputs);
  return std::max(static_cast<double>(experts.rows) *
                      (static_cast<double>(experts.ffn + experts.inputs) + 2 * hidden),
                  shared > 0 ? tokens * shared + gathered : 0);
}

// Largest set of gradients alive inside one layer's backward pass: in the feed-forward block those
// of both sides of the activation, in attention those of its inputs or, unfused, of the scores and
// probabilities, and where keys of a context group are gathered, all of them and their gradients;
// the gradient of the residual stream is there throughout.
double working_set(const Transformer& dnn, const Shard& shard, const SoftwareStack& stack,
                   const LocalSizes& sizes, const LayerKind& kind) {
  const auto tokens = static_cast<double>(sizes.tokens);
  const auto queries = static_cast<double>(sizes.query_width);
  const auto keys = static_cast<double>(sizes.kv_width + sizes.value_width);
  // A fused backward kernel sums the query gradient in fp32.
  double attention = stack.attention == SoftwareStack::Attention::unfused
                         ? sizes.element * 2 * sizes.scores
                         : sizes.element * tokens * (queries + keys) + 4 * tokens * queries;
  if (shard.context > 1 && shard.context_kind == ContextKind::all_gather) {
    attention += sizes.element * 2 * keys * static_cast<double>(shard.sequence * shard.micro_batch);
  }
  const double block = sizes.element * block_elements(dnn, shard, sizes, kind);
  return std::max(block, attention) +
         sizes.element * 2 * sizes.split_tokens * static_cast<double>(dnn.hidden);
}

}  // namespace

ActivationBytes activation_bytes(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack, Recompute recompute,
                                 const LayerKind& kind) {
  const LocalSizes sizes(dnn, shard, stack);
  const std::vector<SavedTensor> tensors = saved_tensors(dnn, shard, stack, kind);
  double kept = sum_of(tensors, recompute);
  // The last product of a layer is one of those kept, though nothing needs it.
  if (recompute == Recompute::alternate && dnn.gated) {
    kept += static_cast<double>(sizes.tokens) * static_cast<double>(dnn.hidden) * sizes.element;
  }
  const double split = sizes.split_tokens * static_cast<double>(dnn.hidden);
  const double logits = static_cast<double>(sizes.tokens) * static_cast<double>(sizes.vocabulary);
  ActivationBytes result;
  result.per_layer = Bytes(kept);
  result.embedding =
      Bytes((dnn.dropout > 0 ? split : 0) + (dnn.embedding_norm ? split * sizes.element : 0));
  // Norm input, logits' input, and the logits in fp32 that become their own gradient.
  result.head = Bytes(split * sizes.element * (dnn.final_norm ? 2 : 1) + 4 * logits);
  // Fused: the logits or their gradient in 16 bits. Eager: both, a cast copy and an fp32 gradient,
  // 14 bytes in all. Source: Assumed; 14 bytes classify the out-of-memory runs of the nanotron
  // sweep best.
  result.head_transient = Bytes((stack.fused_pointwise ? sizes.element : 10) * logits);
  result.transient =
      Bytes(working_set(dnn, shard, stack, sizes, kind) + sum_of(tensors, Recompute::none) - kept);
  return result;
}

Bytes weight_gradient_operands(const LayerOperators& operators, const Shard& shard) {
  double elements = 0;
  for (const Operator& o : operators.backward) elements += o.kept_elements;
  return Bytes(elements * shard.bytes_per_element);
}

ActivationBytes activation_bytes(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack, Recompute recompute) {
  return activation_bytes(dnn, shard, stack, recompute, only_kind(dnn));
}

}  // namespace sim::dnn
