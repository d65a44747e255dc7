// How many query-key pairs a rank's attention computes, and in which shape of kernel.
#pragma once

#include "sim/dnn/local_sizes.h"

namespace sim::dnn {

// Of one kernel. Lengths and `causal` give `pairs` where the shape of the mask allows.
struct AttentionWork {
  std::int64_t sequences = 0, query_heads = 0, kv_heads = 0;
  std::int64_t query_length = 0, key_length = 0;
  bool causal = true;
  double pairs = 0;  // of all sequences and heads
  double keys = 0;   // rows of keys that are read, of all sequences
};

// All of a rank's queries against all their keys: the shape that ulysses and all_gather run, and
// one rank alone.
AttentionWork whole_work(const Transformer& dnn, const Shard& shard, const LocalSizes& sizes,
                         const LayerKind& kind);

// A step of a ring: this rank's queries against the keys of one rank. Causal: sequences are cut
// into 2 c parts, of which rank r holds parts r and 2 c - 1 - r. The first step has the rank's own
// keys; in each other one all queries see the first half of the keys, or the second half of the
// queries sees all keys: half of the pairs either way. The first of the two stands for both.
// Source: NVIDIA/TransformerEngine, transformer_engine/pytorch, AttnFuncWithCPAndKVP2P.
AttentionWork ring_work(const Transformer& dnn, const Shard& shard, const LocalSizes& sizes,
                        bool is_own);

}  // namespace sim::dnn
