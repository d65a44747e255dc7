// One transformer layer, forward and backward.
//
// Point-wise work, as one fused kernel would do it (elements read + written for each):
//
//   operator                elements                 forward                backward
//   norm                    split tokens x hidden    x | y            2     dy, x, residual | dx  4
//   norm after a block      split tokens x hidden    x | y            2     dy, x | dx            3
//   query and key norm      tokens x (q + k)         x | y            2     dy, x | dx            3
//   rotary                  tokens x (q + k)         x | y            2     dy | dx               2
//   activation              tokens x ffn             x | y            2     dy, x | dx            3
//   gated activation        tokens x ffn             gate, up | y     3     dy, gate, up | both   5
//   residual                split tokens x hidden    x, residual | y  3     -
//   dropout, with residual  split tokens x hidden    + mask | 1 byte        dy, mask | dx         2
//
// "split tokens" are tokens / tensor with sequence parallelism, all tokens without.
#include "sim/dnn/attention.h"
#include "sim/dnn/operator_list.h"

namespace sim::dnn {
namespace {

// Launches of an eager RMSNorm: square, mean, add, root, scale, cast; LayerNorm is one kernel.
int eager_norm_kernels(const Transformer& dnn) { return dnn.norm == Norm::rms_norm ? 6 : 1; }

struct LayerLinears {
  explicit LayerLinears(const Transformer& dnn, const LocalSizes& sizes)
      : qkv{"qkv projection", dnn.hidden, sizes.query_width + 2 * sizes.kv_width,
            Linear::Split::columns, dnn.attention_bias},
        output{"output projection", sizes.query_width, dnn.hidden, Linear::Split::rows,
               dnn.output_bias},
        mlp_in{"mlp input projection", dnn.hidden, sizes.mlp_inputs, Linear::Split::columns,
               dnn.mlp_bias},
        mlp_out{"mlp output projection", sizes.ffn, dnn.hidden, Linear::Split::rows, dnn.mlp_bias} {
  }
  Linear qkv, output, mlp_in, mlp_out;
};

double split_elements(const OperatorList& list) {
  return list.sizes.split_tokens * static_cast<double>(list.dnn.hidden);
}

double rotated_elements(const OperatorList& list) {
  return static_cast<double>(list.sizes.tokens) *
         static_cast<double>(list.sizes.query_width + list.sizes.kv_width);
}

double activation_elements(const OperatorList& list) {
  return static_cast<double>(list.sizes.tokens) * static_cast<double>(list.sizes.ffn);
}

void norm_forward(OperatorList& list, const char* name) {
  list.pointwise({name, split_elements(list), 2, 0, 1, eager_norm_kernels(list.dnn)});
}

// One more kernel sums the gradient of the gain.
void norm_backward(OperatorList& list, const char* name, double passes) {
  list.pointwise({name, split_elements(list), passes, 0, 2, 2 * eager_norm_kernels(list.dnn) + 1});
}

void residual_forward(OperatorList& list, const char* name) {
  const bool has_dropout = list.dnn.dropout > 0;
  list.pointwise({name, split_elements(list), 3, has_dropout ? 1.0 : 0, 1, has_dropout ? 2 : 1});
}

void residual_backward(OperatorList& list, const char* name) {
  if (list.dnn.dropout > 0) list.pointwise({name, split_elements(list), 2, 1, 1, 1});
}

std::vector<Operator> forward(const Transformer& dnn, const Shard& shard,
                              const SoftwareStack& stack) {
  OperatorList list(dnn, shard, stack);
  const LayerLinears linears(dnn, list.sizes);
  norm_forward(list, "attention norm");
  list.forward(linears.qkv);
  if (dnn.query_key_norm) {
    list.pointwise(
        {"query and key norm", rotated_elements(list), 2, 0, 2, 2 * eager_norm_kernels(dnn)});
  }
  if (dnn.position == Position::rotary) {
    list.pointwise({"rotary", rotated_elements(list), 2, 0, 2, 12});
  }
  list.append(attention_forward(dnn, shard, stack));
  list.forward(linears.output);
  if (dnn.sandwich_norm) norm_forward(list, "attention output norm");
  residual_forward(list, "attention residual");
  norm_forward(list, "mlp norm");
  list.forward(linears.mlp_in);
  list.pointwise(
      {"activation", activation_elements(list), dnn.gated ? 3.0 : 2.0, 0, 1, dnn.gated ? 2 : 1});
  list.forward(linears.mlp_out);
  if (dnn.sandwich_norm) norm_forward(list, "mlp output norm");
  residual_forward(list, "mlp residual");
  return list.take();
}

void mlp_backward(OperatorList& list, const LayerLinears& linears) {
  const Transformer& dnn = list.dnn;
  residual_backward(list, "mlp dropout gradient");
  if (dnn.sandwich_norm) norm_backward(list, "mlp output norm gradient", 3);
  list.backward(linears.mlp_out);
  list.pointwise({"activation gradient", activation_elements(list), dnn.gated ? 5.0 : 3.0, 0, 1,
                  dnn.gated ? 3 : 1});
  list.backward(linears.mlp_in);
  norm_backward(list, "mlp norm gradient", 4);
}

// Selective recomputation runs the attention core once more just before its gradient. A fused
// kernel is run again as well, though it gains only its row statistics: that is what Megatron-core
// does when asked to.
// Source: NVIDIA Megatron Bridge documentation, "Activation Recomputation".
void attention_block_backward(OperatorList& list, const LayerLinears& linears,
                              Recompute recompute) {
  const Transformer& dnn = list.dnn;
  residual_backward(list, "attention dropout gradient");
  if (dnn.sandwich_norm) norm_backward(list, "attention output norm gradient", 3);
  list.backward(linears.output);
  if (recompute == Recompute::selective) {
    list.append(attention_forward(dnn, list.shard, list.stack), true);
  }
  list.append(attention_backward(dnn, list.shard, list.stack));
  if (dnn.position == Position::rotary) {
    list.pointwise({"rotary gradient", rotated_elements(list), 2, 0, 2, 12});
  }
  if (dnn.query_key_norm) {
    list.pointwise({"query and key norm gradient", rotated_elements(list), 3, 0, 4,
                    4 * eager_norm_kernels(dnn) + 2});
  }
  list.backward(linears.qkv);
  norm_backward(list, "attention norm gradient", 4);
}

}  // namespace

LayerOperators layer_operators(const Transformer& dnn, const Shard& shard,
                               const SoftwareStack& stack, Recompute recompute,
                               const LayerKind& kind) {
  static_cast<void>(kind);
  LayerOperators result;
  result.forward = forward(dnn, shard, stack);
  OperatorList list(dnn, shard, stack);
  const LayerLinears linears(dnn, list.sizes);
  if (recompute == Recompute::full) list.append(result.forward, true);
  mlp_backward(list, linears);
  attention_block_backward(list, linears, recompute);
  result.backward = list.take();
  return result;
}

LayerOperators layer_operators(const Transformer& dnn, const Shard& shard,
                               const SoftwareStack& stack, Recompute recompute) {
  return layer_operators(dnn, shard, stack, recompute, only_kind(dnn));
}

}  // namespace sim::dnn
