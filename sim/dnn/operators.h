// The operators one rank executes for one micro-batch: shapes, FLOPs, bytes, saved activations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/quantity.h"
#include "sim/dnn/stack.h"
#include "sim/dnn/transformer.h"

namespace sim::dnn {

// How one rank's share of the tensors is cut.
struct Shard {
  std::int64_t sequence = 0;      // whole sequence
  std::int64_t micro_batch = 1;   // sequences
  int tensor = 1;                 // tensor-parallel degree
  bool sequence_parallel = true;  // norms and residuals on 1/tensor of the tokens
  double bytes_per_element = 2;   // bf16, fp16
  // Context-parallel degree: this rank's queries are sequence / context of the tokens, cut so that
  // causal work is even; its keys are all of them. Exchanging keys and values is the caller's.
  int context = 1;
};

enum class OperatorKind { gemm, attention, memory_bound, collective };
// How operands lie in memory: TN, NN, NT of BLAS. The products of unfused attention are named by
// the same three.
enum class GemmLayout { forward, input_gradient, weight_gradient };
enum class TensorCollective { none, all_reduce, all_gather, reduce_scatter };

struct Operator {
  OperatorKind kind = OperatorKind::memory_bound;
  std::string name;  // "qkv projection", "norm", ...
  bool is_recompute = false;
  Flops flops;
  Bytes bytes;  // read and written in device memory
  // gemm: C[m, n] += A[m, k] B[k, n], `batch` of them
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  GemmLayout layout = GemmLayout::forward;
  bool accumulates_fp32 = false;  // weight gradient added into an fp32 buffer
  // Of a linear layer's weights: may run apart from the rest of the backward pass. Until then its
  // operands are kept: so many elements on this rank, gathered ones counted where they are split.
  bool is_weight_gradient = false;
  double kept_elements = 0;
  // attention (a fused kernel); unfused attention comes as gemm and memory_bound operators
  std::int64_t sequences = 0, query_heads = 0, kv_heads = 0, query_length = 0, key_length = 0,
               head_size = 0;
  bool causal = true;
  bool is_backward = false;
  // memory_bound
  double elements = 0;
  // collective over the tensor group: size as nccl-tests counts it
  // (all-reduce: the buffer; all-gather, reduce-scatter: the whole gathered buffer)
  TensorCollective collective = TensorCollective::none;
  bool is_overlapped = false;  // the stack runs it beside the operator that follows it in the list
  int kernels = 1;             // launches
};

enum class Recompute { none, selective, full };

// Each list in the order of execution, collectives of the tensor group included.
struct LayerOperators {
  std::vector<Operator> forward;
  std::vector<Operator> backward;  // recomputation marked, where it runs: full first, selective
                                   // just before the gradient of the attention core
};
LayerOperators layer_operators(const Transformer& dnn, const Shard& shard,
                               const SoftwareStack& stack, Recompute recompute);
LayerOperators embedding_operators(const Transformer& dnn, const Shard& shard,
                                   const SoftwareStack& stack);
// Final norm, output projection (vocabulary split over tensor ranks, padded as the stack pads),
// loss.
LayerOperators head_operators(const Transformer& dnn, const Shard& shard,
                              const SoftwareStack& stack);

// The optimizer over `parameters` of this rank (Adam, fp32 state).
std::vector<Operator> optimizer_operators(double parameters, const SoftwareStack& stack);

// Parameters of one tensor rank: what is split is divided, norms and row biases are whole.
struct ShardParameters {
  double layer = 0, embedding = 0, head = 0;
};
ShardParameters shard_parameters(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack);

// One tensor that the forward pass of a layer keeps, on this rank.
struct SavedTensor {
  std::string name;
  double elements = 0;
  double bytes_per_element = 0;
  bool is_attention_core = false;  // dropped by selective recomputation
  bool is_layer_input = false;     // all that full recomputation keeps
};
std::vector<SavedTensor> saved_tensors(const Transformer& dnn, const Shard& shard,
                                       const SoftwareStack& stack);

// Activations kept for the backward pass, for one micro-batch on one rank. For a GPT with s b h, a
// heads, unfused attention and dropout:
//   none                sbh (10 + 24/t + 5as/(ht)); with sequence parallelism (sbh/t)(34 + 5as/h)
//   selective           sbh (10 + 24/t);            34 sbh/t
//   full                2 sbh;                      2 sbh/t
// Source: Korthikanti et al., 2022, table 2. Statistics of norms (4 bytes a token) are left out.
struct ActivationBytes {
  Bytes per_layer;       // kept from forward to backward
  Bytes embedding;       // first stage: dropout mask, input of an embedding norm
  Bytes head;            // last stage: norm input, input and fp32 copy of the logits
  Bytes transient;       // largest temporary while one layer is recomputed or run backward
  Bytes head_transient;  // beside `head`, while the loss and its gradient are computed
};
ActivationBytes activation_bytes(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack, Recompute recompute);

// Bytes kept from the input gradient of a layer, or of the head, to its weight gradient where they
// run apart. For a GPT 32 sbh / t of a layer. Source: Qi et al., ICLR 2024, table 1.
Bytes weight_gradient_operands(const LayerOperators& operators, const Shard& shard);

// 6 parameters (without the input embedding, with the head) + 12 layers width sequence per token,
// width = heads x head_size, which is hidden in most; `causal` counts half of the second term.
double model_flops_per_token(const Transformer& dnn, std::int64_t sequence, bool causal);

}  // namespace sim::dnn
