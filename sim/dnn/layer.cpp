// One transformer layer, forward and backward.
//
// Point-wise work, as one fused kernel would do it (elements read + written for each):
//
//   operator                elements                 forward                backward
//   norm                    split tokens x hidden    x | y            2     dy, x, residual | dx  4
//   norm after a block      split tokens x hidden    x | y            2     dy, x | dx            3
//   query and key norm      tokens x (q + k)         x | y            2     dy, x | dx            3
//   rotary                  tokens x (q + k)         x | y            2     dy | dx               2
//   latent norms            split tokens x rank      x | y            2     dy, x | dx            3
//   activation              tokens x ffn             x | y            2     dy, x | dx            3
//   gated activation        tokens x ffn             gate, up | y     3     dy, gate, up | both   5
//   residual                split tokens x hidden    x, residual | y  3     -
//   dropout, with residual  split tokens x hidden    + mask | 1 byte        dy, mask | dx         2
//
// "split tokens" are tokens / tensor with sequence parallelism, all tokens without.
#include "sim/dnn/attention.h"
#include "sim/dnn/experts.h"
#include "sim/dnn/pointwise.h"
#include "sim/dnn/projections.h"

namespace sim::dnn {
namespace {

struct LayerLinears {
  explicit LayerLinears(const Transformer& dnn, const LocalSizes& sizes)
      : output{"output projection", sizes.attention_width, dnn.hidden, Linear::Split::rows,
               dnn.output_bias},
        mlp_in{"mlp input projection", dnn.hidden, sizes.mlp_inputs, Linear::Split::columns,
               dnn.mlp_bias},
        mlp_out{"mlp output projection", sizes.ffn, dnn.hidden, Linear::Split::rows, dnn.mlp_bias} {
  }
  Linear output, mlp_in, mlp_out;
};

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

std::vector<Operator> forward(OperatorList list, const LayerKind& kind) {
  const Transformer& dnn = list.dnn;
  const LayerLinears linears(dnn, list.sizes);
  norm_forward(list, "attention norm");
  projections_forward(list, kind);
  list.append(attention_forward(dnn, list.shard, list.stack, kind));
  list.forward(linears.output);
  if (dnn.sandwich_norm) norm_forward(list, "attention output norm");
  residual_forward(list, "attention residual");
  norm_forward(list, "mlp norm");
  if (kind.is_moe) {
    experts_forward(list);
  } else {
    list.forward(linears.mlp_in);
    activation_forward(list, "activation", activation_elements(list));
    list.forward(linears.mlp_out);
  }
  if (dnn.sandwich_norm) norm_forward(list, "mlp output norm");
  residual_forward(list, "mlp residual");
  return list.take();
}

// What is needed of the forward pass, up to the inputs of the last product.
std::vector<Operator> alternate_forward(OperatorList list, const LayerKind& kind) {
  const Transformer& dnn = list.dnn;
  const LayerLinears linears(dnn, list.sizes);
  norm_forward(list, "attention norm");
  list.forward(Linear{"key projection", dnn.hidden, list.sizes.kv_width, Linear::Split::columns,
                      dnn.attention_bias});
  positions_forward(list, kind);
  if (list.stack.attention == SoftwareStack::Attention::unfused) {
    list.append(attention_forward(dnn, list.shard, list.stack, kind));
  }
  // What it scatters over the tensor group is kept.
  list.gemm(linears.output.name, list.sizes.tokens, linears.output.outputs, linears.output.inputs,
            GemmLayout::forward);
  if (dnn.sandwich_norm) norm_forward(list, "attention output norm");
  residual_forward(list, "attention residual");
  norm_forward(list, "mlp norm");
  if (dnn.gated) {
    list.forward(Linear{"mlp up projection", dnn.hidden, list.sizes.ffn, Linear::Split::columns,
                        dnn.mlp_bias});
  }
  activation_forward(list, "activation", activation_elements(list));
  return list.take();
}

void mlp_backward(OperatorList& list, const LayerLinears& linears, const LayerKind& kind) {
  residual_backward(list, "mlp dropout gradient");
  if (list.dnn.sandwich_norm) norm_backward(list, "mlp output norm gradient", 3);
  if (kind.is_moe) {
    experts_backward(list);
  } else {
    list.backward(linears.mlp_out);
    activation_backward(list, "activation gradient", activation_elements(list));
    list.backward(linears.mlp_in);
  }
  norm_backward(list, "mlp norm gradient", 4);
}

// Selective recomputation runs the attention core once more just before its gradient, exchanges
// included. A fused kernel is run again as well, though it gains only its row statistics: that is
// what Megatron-core does when asked to.
// Source: NVIDIA Megatron Bridge documentation, "Activation Recomputation".
void attention_block_backward(OperatorList& list, const LayerLinears& linears, Recompute recompute,
                              const LayerKind& kind) {
  const Transformer& dnn = list.dnn;
  residual_backward(list, "attention dropout gradient");
  if (dnn.sandwich_norm) norm_backward(list, "attention output norm gradient", 3);
  list.backward(linears.output);
  if (recompute == Recompute::selective) {
    list.append(attention_forward(dnn, list.shard, list.stack, kind), true);
  }
  list.append(attention_backward(dnn, list.shard, list.stack, kind));
  projections_backward(list, kind);
  norm_backward(list, "attention norm gradient", 4);
}

}  // namespace

LayerOperators layer_operators(const Transformer& dnn, const Shard& shard,
                               const SoftwareStack& stack, Recompute recompute,
                               const LayerKind& kind) {
  OperatorList list(dnn, shard, stack);
  const LayerLinears linears(dnn, list.sizes);
  LayerOperators result;
  result.forward = forward(list, kind);
  if (recompute == Recompute::full) list.append(result.forward, true);
  if (recompute == Recompute::alternate) {
    list.append(alternate_forward(OperatorList(dnn, shard, stack), kind), true);
  }
  mlp_backward(list, linears, kind);
  attention_block_backward(list, linears, recompute, kind);
  result.backward = list.take();
  return result;
}

LayerOperators layer_operators(const Transformer& dnn, const Shard& shard,
                               const SoftwareStack& stack, Recompute recompute) {
  return layer_operators(dnn, shard, stack, recompute, only_kind(dnn));
}

}  // namespace sim::dnn
