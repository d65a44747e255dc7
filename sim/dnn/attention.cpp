// Attention as one fused kernel, or as two batched GEMMs around a softmax.
//
// Fused, forward: 4 sequences heads query_length key_length head_size FLOPs, half of it when
// causal; backward 2.5 times that, because it forms the scores again (five products against two).
// Source: Dao, "FlashAttention-2", 2023, sections 3.1.2 and 4.1.
// Unfused kernels compute the masked half as well.
#include "sim/dnn/attention.h"

#include "sim/dnn/operator_list.h"

namespace sim::dnn {
namespace {

constexpr double statistic_bytes = 4;  // log-sum-exp of a row, fp32

Operator fused_attention(const OperatorList& list, bool is_backward) {
  const LocalSizes& sizes = list.sizes;
  Operator o;
  o.kind = OperatorKind::attention;
  o.name = is_backward ? "attention gradient" : "attention";
  o.sequences = list.shard.micro_batch;
  o.query_heads = sizes.heads;
  o.kv_heads = sizes.kv_heads;
  o.query_length = sizes.query_length;
  o.key_length = list.shard.sequence;
  o.head_size = list.dnn.head_size;
  o.causal = list.dnn.causal;
  o.is_backward = is_backward;
  const double forward =
      4 * sizes.scores * static_cast<double>(list.dnn.head_size) * (list.dnn.causal ? 0.5 : 1);
  o.flops = Flops(is_backward ? 2.5 * forward : forward);
  // Forward: query and output; key and value. Backward adds their gradients to all four.
  const double queries = static_cast<double>(sizes.tokens) * static_cast<double>(sizes.query_width);
  const double keys = static_cast<double>(list.shard.sequence * list.shard.micro_batch) *
                      static_cast<double>(sizes.kv_width);
  const double rows = static_cast<double>(sizes.tokens) * static_cast<double>(sizes.heads);
  o.bytes = Bytes((is_backward ? 2 : 1) * sizes.element * (2 * queries + 2 * keys) +
                  statistic_bytes * rows);
  o.kernels = is_backward ? 3 : 1;  // row sums, main kernel, conversion of the query gradient
  return o;
}

bool is_fused(const SoftwareStack& stack) {
  return stack.attention != SoftwareStack::Attention::unfused;
}

}  // namespace

std::vector<Operator> attention_forward(const Transformer& dnn, const Shard& shard,
                                        const SoftwareStack& stack) {
  OperatorList list(dnn, shard, stack);
  const LocalSizes& sizes = list.sizes;
  if (is_fused(stack)) {
    list.push(fused_attention(list, false));
    return list.take();
  }
  const std::int64_t batch = shard.micro_batch * sizes.heads;
  list.gemm("attention scores", sizes.query_length, shard.sequence, dnn.head_size,
            GemmLayout::forward, batch);
  // Eager: scale, mask, softmax.
  list.pointwise({"attention softmax", sizes.scores, 2, 0, 1, 3});
  if (dnn.dropout > 0) list.pointwise({"attention dropout", sizes.scores, 2, 1, 1, 1});
  list.gemm("attention values", sizes.query_length, dnn.head_size, shard.sequence,
            GemmLayout::input_gradient, batch);
  return list.take();
}

std::vector<Operator> attention_backward(const Transformer& dnn, const Shard& shard,
                                         const SoftwareStack& stack) {
  OperatorList list(dnn, shard, stack);
  const LocalSizes& sizes = list.sizes;
  if (is_fused(stack)) {
    list.push(fused_attention(list, true));
    return list.take();
  }
  const std::int64_t batch = shard.micro_batch * sizes.heads;
  const std::int64_t queries = sizes.query_length, keys = shard.sequence, width = dnn.head_size;
  list.gemm("attention probability gradient", queries, keys, width, GemmLayout::forward, batch);
  list.gemm("attention value gradient", keys, width, queries, GemmLayout::weight_gradient, batch);
  if (dnn.dropout > 0) list.pointwise({"attention dropout gradient", sizes.scores, 2, 1, 1, 1});
  list.pointwise({"attention softmax gradient", sizes.scores, 3, 0, 1, 3});
  list.gemm("attention query gradient", queries, width, keys, GemmLayout::input_gradient, batch);
  list.gemm("attention key gradient", keys, width, queries, GemmLayout::weight_gradient, batch);
  return list.take();
}

}  // namespace sim::dnn
