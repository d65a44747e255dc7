// Divides a transformer's sizes over the tensor group.
#include "sim/dnn/local_sizes.h"

#include "sim/base/invariant.h"

namespace sim::dnn {
namespace {

std::int64_t share(std::int64_t whole, std::int64_t parts) { return (whole + parts - 1) / parts; }

}  // namespace

LocalSizes::LocalSizes(const Transformer& dnn, const Shard& shard, const SoftwareStack& stack) {
  invariant(shard.tensor >= 1 && shard.context >= 1, "a shard's degrees are at least 1");
  invariant(stack.vocabulary_multiple >= 1, "vocabulary is padded to a multiple of at least 1");
  is_sequence_parallel = shard.sequence_parallel && shard.tensor > 1;
  query_length = share(shard.sequence, shard.context);
  tokens = query_length * shard.micro_batch;
  split_tokens = static_cast<double>(tokens) / (is_sequence_parallel ? shard.tensor : 1);
  own_tokens = share(tokens, is_sequence_parallel ? shard.tensor : 1);
  heads = share(dnn.heads, shard.tensor);
  kv_heads = share(dnn.kv_heads, shard.tensor);
  query_width = heads * dnn.head_size;
  kv_width = kv_heads * dnn.head_size;
  value_width = kv_heads * dnn.value_head_size();
  attention_width = heads * dnn.value_head_size();
  ffn = share(dnn.ffn, shard.tensor);
  mlp_inputs = dnn.gated ? 2 * ffn : ffn;
  vocabulary = share(dnn.vocabulary, std::int64_t{stack.vocabulary_multiple} * shard.tensor) *
               stack.vocabulary_multiple;
  element = shard.bytes_per_element;
  scores = static_cast<double>(shard.micro_batch * heads) * static_cast<double>(query_length) *
           static_cast<double>(shard.sequence);
}

}  // namespace sim::dnn
