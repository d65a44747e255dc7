// What the forward pass leaves in memory for the backward pass.
#include <algorithm>

#include "sim/dnn/local_sizes.h"
#include "sim/dnn/operators.h"

namespace sim::dnn {
namespace {

constexpr double statistic_bytes = 4;  // log-sum-exp of a row of a fused attention, fp32

double sum_of(const std::vector<SavedTensor>& tensors, Recompute recompute) {
  double sum = 0;
  for (const SavedTensor& t : tensors) {
    const bool is_kept = recompute == Recompute::none ||
                         (recompute == Recompute::selective && !t.is_attention_core) ||
                         t.is_layer_input;
    if (is_kept) sum += t.elements * t.bytes_per_element;
  }
  return sum;
}

// Largest set of gradients alive inside one layer's backward pass: in the feed-forward block those
// of both sides of the activation, in attention those of its inputs or, unfused, of the scores and
// probabilities. Sequence parallelism adds a gathered gradient and a gathered input; the gradient
// of the residual stream is there throughout.
double working_set(const Transformer& dnn, const SoftwareStack& stack, const LocalSizes& sizes) {
  const auto tokens = static_cast<double>(sizes.tokens);
  const auto hidden = static_cast<double>(dnn.hidden);
  const double gathered = sizes.is_sequence_parallel ? 2 * tokens * hidden : 0;
  const double mlp = tokens * static_cast<double>(sizes.ffn + sizes.mlp_inputs) + gathered;
  const auto queries = static_cast<double>(sizes.query_width);
  const auto qkv = static_cast<double>(sizes.query_width + 2 * sizes.kv_width);
  // A fused backward kernel sums the query gradient in fp32.
  const double attention = stack.attention == SoftwareStack::Attention::unfused
                               ? sizes.element * 2 * sizes.scores
                               : sizes.element * tokens * qkv + 4 * tokens * queries;
  return std::max(sizes.element * mlp, attention) + sizes.element * 2 * sizes.split_tokens * hidden;
}

}  // namespace

std::vector<SavedTensor> saved_tensors(const Transformer& dnn, const Shard& shard,
                                       const SoftwareStack& stack, const LayerKind& kind) {
  static_cast<void>(kind);
  const LocalSizes sizes(dnn, shard, stack);
  const auto tokens = static_cast<double>(sizes.tokens);
  const double split = sizes.split_tokens * static_cast<double>(dnn.hidden);
  const double queries = tokens * static_cast<double>(sizes.query_width);
  const double keys = tokens * static_cast<double>(sizes.kv_width);
  const double inner = tokens * static_cast<double>(sizes.ffn);
  const double e = sizes.element;
  const bool is_fused = stack.attention != SoftwareStack::Attention::unfused;
  std::vector<SavedTensor> result;
  const auto keep = [&](const char* name, double elements, double bytes, bool is_core = false) {
    result.push_back({name, elements, bytes, is_core, result.empty()});
  };
  keep("layer input (norm input)", split, e);
  keep("qkv projection input", split, e);
  if (dnn.query_key_norm) keep("query and key norm input", queries + keys, e);
  keep("query", queries, e);
  keep("key", keys, e);
  keep("value", keys, e);
  if (is_fused) {
    keep("attention statistics", tokens * static_cast<double>(sizes.heads), statistic_bytes, true);
  } else {
    keep("attention probabilities", sizes.scores, e, true);
    if (dnn.dropout > 0) {
      keep("attention dropout mask", sizes.scores, 1, true);
      keep("attention dropout output", sizes.scores, e, true);
    }
  }
  keep("output projection input", queries, e);
  if (dnn.sandwich_norm) keep("attention output norm input", split, e);
  if (dnn.dropout > 0) keep("attention residual dropout mask", split, 1);
  keep("mlp norm input", split, e);
  keep("mlp input projection input", split, e);
  // The gradient of a ReLU needs only its output.
  if (dnn.gated) {
    keep("activation inputs", 2 * inner, e);
    if (!stack.fused_pointwise) keep("activated gate", inner, e);
  } else if (dnn.activation != Activation::relu) {
    keep("activation input", inner, e);
  }
  keep("mlp output projection input", inner, e);
  if (dnn.sandwich_norm) keep("mlp output norm input", split, e);
  if (dnn.dropout > 0) keep("mlp residual dropout mask", split, 1);
  return result;
}

ActivationBytes activation_bytes(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack, Recompute recompute,
                                 const LayerKind& kind) {
  const LocalSizes sizes(dnn, shard, stack);
  const std::vector<SavedTensor> tensors = saved_tensors(dnn, shard, stack, kind);
  const double kept = sum_of(tensors, recompute);
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
      Bytes(working_set(dnn, stack, sizes) + sum_of(tensors, Recompute::none) - kept);
  return result;
}

Bytes weight_gradient_operands(const LayerOperators& operators, const Shard& shard) {
  double elements = 0;
  for (const Operator& o : operators.backward) elements += o.kept_elements;
  return Bytes(elements * shard.bytes_per_element);
}

std::vector<SavedTensor> saved_tensors(const Transformer& dnn, const Shard& shard,
                                       const SoftwareStack& stack) {
  return saved_tensors(dnn, shard, stack, only_kind(dnn));
}

ActivationBytes activation_bytes(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack, Recompute recompute) {
  return activation_bytes(dnn, shard, stack, recompute, only_kind(dnn));
}

}  // namespace sim::dnn
