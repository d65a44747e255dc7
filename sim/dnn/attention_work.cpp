// Counting pairs: full, sliding and chunked spans; whole sequences and the parts of a ring.
#include "sim/dnn/attention_work.h"

#include <algorithm>
#include <cmath>

namespace sim::dnn {
namespace {

// Pairs of one whole sequence and head, counted as areas: half a square where causal.
double sequence_pairs(const Transformer& dnn, const LayerKind& kind, double sequence) {
  const auto window = static_cast<double>(kind.window);
  if (kind.span == AttentionSpan::full || window >= sequence) {
    return sequence * sequence * (dnn.causal ? 0.5 : 1);
  }
  if (kind.span == AttentionSpan::sliding) return window * sequence - window * window / 2;
  const double chunks = std::floor(sequence / window), rest = sequence - chunks * window;
  return (chunks * window * window + rest * rest) / 2;
}

}  // namespace

// A band of a sliding window has the shape of a kernel without a mask over the mean number of keys.
// Queries that are a share 1 / c of a causal sequence see (s + s / c) / 2 keys in the causal count.
AttentionWork whole_work(const Transformer& dnn, const Shard& shard, const LocalSizes& sizes,
                         const LayerKind& kind) {
  const bool is_split = shard.context > 1 && shard.context_kind == ContextKind::ulysses;
  const std::int64_t heads = is_split ? sizes.heads / shard.context : sizes.heads;
  const std::int64_t kv_heads = is_split ? sizes.kv_heads / shard.context : sizes.kv_heads;
  const std::int64_t sequence = shard.sequence;
  AttentionWork work{.sequences = shard.micro_batch,
                     .query_heads = heads,
                     .kv_heads = kv_heads,
                     .query_length = is_split ? sequence : sizes.query_length,
                     .key_length = sequence,
                     .causal = dnn.causal};
  const double share = static_cast<double>(work.query_length) / static_cast<double>(sequence);
  const double pairs = sequence_pairs(dnn, kind, static_cast<double>(sequence)) * share;
  work.pairs = static_cast<double>(shard.micro_batch * heads) * pairs;
  work.keys = static_cast<double>(sequence * shard.micro_batch);
  const bool is_whole = work.query_length == sequence;
  if (kind.span == AttentionSpan::full || kind.window >= sequence) {
    if (dnn.causal && !is_whole) work.key_length = (sequence + work.query_length) / 2;
  } else if (kind.span == AttentionSpan::chunked && is_whole) {
    work.sequences *= (sequence + kind.window - 1) / kind.window;
    work.query_length = work.key_length = kind.window;
  } else {
    work.causal = false;
    work.key_length = std::llround(pairs / static_cast<double>(work.query_length));
  }
  return work;
}

AttentionWork ring_work(const Transformer& dnn, const Shard& shard, const LocalSizes& sizes,
                        bool is_own) {
  const bool is_half = dnn.causal && !is_own;
  AttentionWork work{.sequences = shard.micro_batch,
                     .query_heads = sizes.heads,
                     .kv_heads = sizes.kv_heads,
                     .query_length = sizes.query_length,
                     .key_length = is_half ? sizes.query_length / 2 : sizes.query_length,
                     .causal = dnn.causal && is_own};
  const auto length = static_cast<double>(sizes.query_length);
  work.pairs = static_cast<double>(shard.micro_batch * sizes.heads) * length * length *
               (dnn.causal ? 0.5 : 1);
  work.keys = static_cast<double>(shard.micro_batch * work.key_length);
  return work;
}

}  // namespace sim::dnn
