// One rank's share of the sizes of a transformer.
#pragma once

#include <cstdint>

#include "sim/dnn/operators.h"

namespace sim::dnn {

// REQUIRES: tensor divides heads, ffn and, unless it exceeds them, kv_heads (plan::problems says
// so to the user). Key and value heads fewer than `tensor` are held by several ranks.
struct LocalSizes {
  LocalSizes(const Transformer& dnn, const Shard& shard, const SoftwareStack& stack);

  bool is_sequence_parallel;
  std::int64_t query_length;  // of one sequence, on this rank
  std::int64_t tokens;        // of a gathered micro-batch
  double split_tokens;        // where norms and residuals work: tokens / tensor, or all
  std::int64_t own_tokens;    // the same, whole
  std::int64_t heads, kv_heads;
  std::int64_t query_width, kv_width;
  std::int64_t value_width, attention_width;  // of all value heads; of the attention's output
  std::int64_t ffn, mlp_inputs;               // mlp_inputs: ffn, or 2 ffn when gated
  std::int64_t vocabulary;                    // rows of the padded vocabulary
  double element;                             // bytes
  double scores;                              // entries of all attention matrices of this rank
};

}  // namespace sim::dnn
