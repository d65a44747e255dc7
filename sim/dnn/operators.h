// The operators one rank executes for one micro-batch: shapes, FLOPs, bytes, saved activations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/quantity.h"
#include "sim/dnn/stack.h"
#include "sim/dnn/transformer.h"

namespace sim::dnn {

// How the keys and values of other ranks reach a rank's queries.
//   ring        they go round the context group, chunk by chunk, beside the attention of the last
//   ulysses     all-to-all: whole sequences, heads split over the group
//   all_gather  keys and values of the whole sequence are gathered first
enum class ContextKind { ring, ulysses, all_gather };

// How one rank's share of the tensors is cut. Experts are cut apart from the rest, over the same
// ranks: expert x expert_tensor x (their replicas) = tensor x context x data.
struct Shard {
  std::int64_t sequence = 0;      // whole sequence
  std::int64_t micro_batch = 1;   // sequences
  int tensor = 1;                 // tensor-parallel degree
  bool sequence_parallel = true;  // norms and residuals on 1/tensor of the tokens
  double bytes_per_element = 2;   // bf16, fp16
  // Context-parallel degree: this rank's queries are sequence / context of the tokens, cut so that
  // causal work is even; its keys are all of them.
  int context = 1;
  ContextKind context_kind = ContextKind::ring;
  int expert = 1;               // expert-parallel degree: experts / expert on each rank
  int expert_tensor = 1;        // tensor-parallel degree of the experts
  double expert_load = 1;       // rows that this rank's experts get, against an even routing
  double expert_imbalance = 1;  // rows of the largest of them against their mean
};

// Why a transformer cannot be cut so; nothing if it can.
std::optional<std::string> context_obstacle(const Transformer& dnn, const Shard& shard);
std::optional<std::string> expert_obstacle(const Transformer& dnn, const Shard& shard);

enum class OperatorKind { gemm, grouped_gemm, attention, memory_bound, collective };
// How operands lie in memory: TN, NN, NT of BLAS. The products of unfused attention are named by
// the same three.
enum class GemmLayout { forward, input_gradient, weight_gradient };
enum class Collective {
  none,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  dispatch,      // all-to-all of rows to their experts: hot ones are sent more
  combine,       // the way back
  send_receive,  // to the next rank of the group, from the one before
};
enum class RankGroup { tensor, context, expert, expert_tensor };

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
  // grouped_gemm: m rows of all `groups` (experts of this rank) together, each group with its own
  // matrix of n x k. weight_gradient: C[n, k] of each group is a sum over that group's rows.
  std::int64_t groups = 0;
  double imbalance = 1;  // rows of the largest group against the mean
  // attention (a fused kernel); unfused attention comes as gemm and memory_bound operators. Lengths
  // give the pairs that are computed: where tokens see unequal numbers of keys, key_length is their
  // mean (without a mask) or what makes the causal count right.
  std::int64_t sequences = 0, query_heads = 0, kv_heads = 0, query_length = 0, key_length = 0,
               head_size = 0;
  std::int64_t value_head_size = 0;  // 0: head_size
  bool causal = true;
  bool is_backward = false;
  // memory_bound
  double elements = 0;
  // collective: size as nccl-tests counts it (all-reduce: the buffer; all-gather, reduce-scatter:
  // the whole gathered buffer; all-to-all: the whole send buffer; dispatch, combine: the same where
  // the routing is even; send-receive: what a rank sends)
  Collective collective = Collective::none;
  RankGroup group = RankGroup::tensor;
  // So many operators after it in the list, those of its own group left out, run beside it.
  int overlapped = 0;
  int kernels = 1;  // launches
};

// alternate: all of a layer is run again but a fused attention and every other product, counted as
// a layer has them (query, key, value, output, gate, up, down: the key's, the output's and the up
// projection again). Source: pytorch/torchtitan, "selective" activation checkpointing per operator.
enum class Recompute { none, selective, alternate, full };

// Each list in the order of execution, collectives inside the layer included. Overloads without a
// kind are for transformers whose layers are alike.
struct LayerOperators {
  std::vector<Operator> forward;
  std::vector<Operator> backward;  // recomputation marked, where it runs: selective just before
                                   // the gradient of the attention core, the others first
};
LayerOperators layer_operators(const Transformer& dnn, const Shard& shard,
                               const SoftwareStack& stack, Recompute recompute,
                               const LayerKind& kind);
LayerOperators layer_operators(const Transformer& dnn, const Shard& shard,
                               const SoftwareStack& stack, Recompute recompute);
LayerOperators embedding_operators(const Transformer& dnn, const Shard& shard,
                                   const SoftwareStack& stack);
// Final norm, output projection (vocabulary split over tensor ranks, padded as the stack pads),
// loss.
LayerOperators head_operators(const Transformer& dnn, const Shard& shard,
                              const SoftwareStack& stack);
// One module of multi-token prediction: embedding, projection, a layer, head and loss. Modules run
// one after another behind the last layer. Source: DeepSeek-AI, "DeepSeek-V3", 2024, section 2.2.
LayerOperators prediction_operators(const Transformer& dnn, const Shard& shard,
                                    const SoftwareStack& stack, Recompute recompute);

// The optimizer over `parameters` of this rank (Adam, fp32 state).
std::vector<Operator> optimizer_operators(double parameters, const SoftwareStack& stack);

// Parameters of one tensor rank: what is split is divided, norms and row biases are whole.
// `experts` are those of a layer's routed experts, beside `layer`: other ranks hold the same ones.
// `prediction` is what a module of multi-token prediction has beside its layer.
struct ShardParameters {
  double layer = 0, embedding = 0, head = 0;
  double experts = 0, prediction = 0;
};
ShardParameters shard_parameters(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack, const LayerKind& kind);
ShardParameters shard_parameters(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack);

// One tensor that the forward pass of a layer keeps, on this rank.
struct SavedTensor {
  std::string name;
  double elements = 0;
  double bytes_per_element = 0;
  bool is_attention_core = false;  // dropped by selective recomputation
  bool is_layer_input = false;     // all that full recomputation keeps
  double alternate_share = 0;      // that alternate recomputation keeps
};
std::vector<SavedTensor> saved_tensors(const Transformer& dnn, const Shard& shard,
                                       const SoftwareStack& stack, const LayerKind& kind);
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
                                 const SoftwareStack& stack, Recompute recompute,
                                 const LayerKind& kind);
ActivationBytes activation_bytes(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack, Recompute recompute);

// Bytes kept from the input gradient of a layer, or of the head, to its weight gradient where they
// run apart. For a GPT 32 sbh / t of a layer. Source: Qi et al., ICLR 2024, table 1.
Bytes weight_gradient_operands(const LayerOperators& operators, const Shard& shard);

// 6 active parameters (without the input embedding, with the head) + 12 layers width sequence per
// token, width = heads x head_size, which is hidden in most (latent attention: the mean of key and
// value heads); `causal` counts half of the second term. A layer with a window counts the keys that
// a token can see instead of the sequence; modules of multi-token prediction count like layers,
// with a projection and a head.
double model_flops_per_token(const Transformer& dnn, std::int64_t sequence, bool causal);

}  // namespace sim::dnn
