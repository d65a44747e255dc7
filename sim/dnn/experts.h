// A mixture of experts in place of the feed-forward block: router, exchange of rows, grouped
// products.
#pragma once

#include "sim/dnn/operator_list.h"

namespace sim::dnn {

// Rows of routed experts on one rank. The ranks of a stage are cut twice, once for attention and
// once for experts: expert x expert_tensor x replicas = tensor x context x data. A rank routes the
// tokens that it holds between blocks, its share of a sequence-parallel micro-batch, and gets as
// many rows from its expert group; the ranks of an expert_tensor group have gathered theirs.
// Source: Liu et al., "MoE Parallel Folding", 2025, section 3, and Megatron-LM, megatron/core/
// transformer/moe/token_dispatcher.py.
struct ExpertSizes {
  ExpertSizes(const Transformer& dnn, const Shard& shard, const LocalSizes& sizes);

  std::int64_t groups;       // experts on this rank
  std::int64_t tokens;       // that this rank routes
  std::int64_t sent;         // rows it sends: per_token for each; with a capacity, that many
  std::int64_t rows;         // rows its experts multiply, all groups together
  double imbalance;          // rows of the largest expert against their mean
  std::int64_t ffn, inputs;  // of an expert on this rank; inputs: ffn, or 2 ffn when gated
  std::int64_t shared_ffn, shared_inputs;  // of the shared experts on this tensor rank
};

void experts_forward(OperatorList& list);
void experts_backward(OperatorList& list);

}  // namespace sim::dnn
