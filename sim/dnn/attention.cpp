// Attention as fused kernels, or as two batched GEMMs around a softmax; and how a context group
// brings queries and keys together for them.
//
// Fused, forward: 2 pairs (head_size + value_head_size) FLOPs, where a causal mask leaves half of
// query_length key_length pairs; backward forms the scores again: three products of head_size and
// two of value_head_size, 2.5 times as much where they are equal.
// Source: Dao, "FlashAttention-2", 2023, sections 3.1.2 and 4.1.
// Unfused kernels compute the masked part as well.
#include "sim/dnn/attention.h"

#include "sim/dnn/attention_work.h"
#include "sim/dnn/operator_list.h"

namespace sim::dnn {
namespace {

constexpr double statistic_bytes = 4;  // log-sum-exp of a row, fp32

bool is_fused(const OperatorList& list) {
  return list.stack.attention != SoftwareStack::Attention::unfused;
}

void fused_attention(OperatorList& list, const AttentionWork& work, bool is_backward) {
  const LocalSizes& sizes = list.sizes;
  const std::int64_t value_size = list.dnn.value_head_size();
  Operator o;
  o.kind = OperatorKind::attention;
  o.name = is_backward ? "attention gradient" : "attention";
  o.sequences = work.sequences;
  o.query_heads = work.query_heads;
  o.kv_heads = work.kv_heads;
  o.query_length = work.query_length;
  o.key_length = work.key_length;
  o.head_size = list.dnn.head_size;
  o.value_head_size = value_size == o.head_size ? 0 : value_size;
  o.causal = work.causal;
  o.is_backward = is_backward;
  const auto head = static_cast<double>(o.head_size), value = static_cast<double>(value_size);
  o.flops = Flops(2 * work.pairs * (is_backward ? 3 * head + 2 * value : head + value));
  // Forward: query and output; key and value. Backward adds their gradients to all four.
  const auto rows = static_cast<double>(work.sequences * work.query_length) *
                    static_cast<double>(work.query_heads);
  const double keys = work.keys * static_cast<double>(work.kv_heads);
  o.bytes = Bytes((is_backward ? 2 : 1) * sizes.element * (rows + keys) * (head + value) +
                  statistic_bytes * rows);
  o.kernels = is_backward ? 3 : 1;  // row sums, main kernel, conversion of the query gradient
  list.push(std::move(o));
}

void unfused_forward(OperatorList& list) {
  const Shard& shard = list.shard;
  const LocalSizes& sizes = list.sizes;
  const std::int64_t batch = shard.micro_batch * sizes.heads;
  list.gemm("attention scores", sizes.query_length, shard.sequence, list.dnn.head_size,
            GemmLayout::forward, batch);
  // Eager: scale, mask, softmax.
  list.pointwise({"attention softmax", sizes.scores, 2, 0, 1, 3});
  if (list.dnn.dropout > 0) list.pointwise({"attention dropout", sizes.scores, 2, 1, 1, 1});
  list.gemm("attention values", sizes.query_length, list.dnn.value_head_size(), shard.sequence,
            GemmLayout::input_gradient, batch);
}

void unfused_backward(OperatorList& list) {
  const LocalSizes& sizes = list.sizes;
  const std::int64_t batch = list.shard.micro_batch * sizes.heads;
  const std::int64_t queries = sizes.query_length, keys = list.shard.sequence;
  const std::int64_t width = list.dnn.head_size, value = list.dnn.value_head_size();
  list.gemm("attention probability gradient", queries, keys, value, GemmLayout::forward, batch);
  list.gemm("attention value gradient", keys, value, queries, GemmLayout::weight_gradient, batch);
  if (list.dnn.dropout > 0) {
    list.pointwise({"attention dropout gradient", sizes.scores, 2, 1, 1, 1});
  }
  list.pointwise({"attention softmax gradient", sizes.scores, 3, 0, 1, 3});
  list.gemm("attention query gradient", queries, width, keys, GemmLayout::input_gradient, batch);
  list.gemm("attention key gradient", keys, width, queries, GemmLayout::weight_gradient, batch);
}

// Elements of this rank's keys and values, and of its attention output.
double key_elements(const OperatorList& list) {
  return static_cast<double>(list.sizes.tokens) *
         static_cast<double>(list.sizes.kv_width + list.sizes.value_width);
}
double output_elements(const OperatorList& list) {
  return static_cast<double>(list.sizes.tokens) * static_cast<double>(list.sizes.attention_width);
}
double query_elements(const OperatorList& list) {
  return static_cast<double>(list.sizes.tokens) * static_cast<double>(list.sizes.query_width);
}

// To the next rank of the ring, beside the attention that follows.
void ring_exchange(OperatorList& list, const char* name) {
  list.collective(RankGroup::context, name, Collective::send_receive,
                  key_elements(list) * list.sizes.element, 1);
}

// The keys of the next step travel beside the attention of this one. Outputs of all steps are read
// once more and written merged.
void ring_forward(OperatorList& list) {
  const int steps = list.shard.context;
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) ring_exchange(list, "key and value exchange");
    fused_attention(list, ring_work(list.dnn, list.shard, list.sizes, step == 0), false);
  }
  const double elements = output_elements(list);
  list.traffic("attention merge", elements, elements * list.sizes.element * (steps + 1), steps);
}

// Begins where the forward pass ended, so that the gradients of keys and values, which travel
// behind them with what every rank adds, are at home after the last step, the rank's own.
void ring_backward(OperatorList& list) {
  const int steps = list.shard.context;
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) ring_exchange(list, "key and value exchange");
    if (step > 0) ring_exchange(list, "key and value gradient exchange");
    fused_attention(list, ring_work(list.dnn, list.shard, list.sizes, step + 1 == steps), true);
  }
  // Each further step is added: read, read, written.
  const double elements = query_elements(list) + key_elements(list);
  list.traffic("attention gradient sum", elements, 3 * elements * list.sizes.element * (steps - 1),
               2 * (steps - 1));
}

// Whole sequences, heads split. Source: Jacobs et al., "DeepSpeed Ulysses", 2023, section 3.
void ulysses_forward(OperatorList& list, const LayerKind& kind) {
  const double element = list.sizes.element;
  list.collective(RankGroup::context, "query, key and value all-to-all", Collective::all_to_all,
                  (query_elements(list) + key_elements(list)) * element);
  fused_attention(list, whole_work(list.dnn, list.shard, list.sizes, kind), false);
  list.collective(RankGroup::context, "attention output all-to-all", Collective::all_to_all,
                  output_elements(list) * element);
}

void ulysses_backward(OperatorList& list, const LayerKind& kind) {
  const double element = list.sizes.element;
  list.collective(RankGroup::context, "attention output gradient all-to-all",
                  Collective::all_to_all, output_elements(list) * element);
  fused_attention(list, whole_work(list.dnn, list.shard, list.sizes, kind), true);
  list.collective(RankGroup::context, "query, key and value gradient all-to-all",
                  Collective::all_to_all, (query_elements(list) + key_elements(list)) * element);
}

// The backward pass gathers again instead of keeping all keys.
// Source: Llama team, "The Llama 3 Herd of Models", 2024, section 3.3.2, and
// NVIDIA/TransformerEngine, transformer_engine/pytorch, AttnFuncWithCPAndKVAllGather.
void gather_keys(OperatorList& list) {
  list.collective(RankGroup::context, "key and value all-gather", Collective::all_gather,
                  key_elements(list) * list.sizes.element * list.shard.context);
}
void scatter_gradients(OperatorList& list) {
  list.collective(RankGroup::context, "key and value gradient reduce-scatter",
                  Collective::reduce_scatter,
                  key_elements(list) * list.sizes.element * list.shard.context);
}

}  // namespace

std::vector<Operator> attention_forward(const Transformer& dnn, const Shard& shard,
                                        const SoftwareStack& stack, const LayerKind& kind) {
  OperatorList list(dnn, shard, stack);
  const bool is_ring = shard.context_kind == ContextKind::ring && shard.context > 1;
  const bool is_ulysses = shard.context_kind == ContextKind::ulysses && shard.context > 1;
  if (!is_fused(list)) {
    gather_keys(list);  // scores of parts cannot be merged: keys are gathered, whatever the kind
    unfused_forward(list);
  } else if (is_ring) {
    ring_forward(list);
  } else if (is_ulysses) {
    ulysses_forward(list, kind);
  } else {
    gather_keys(list);
    fused_attention(list, whole_work(dnn, shard, list.sizes, kind), false);
  }
  return list.take();
}

std::vector<Operator> attention_backward(const Transformer& dnn, const Shard& shard,
                                         const SoftwareStack& stack, const LayerKind& kind) {
  OperatorList list(dnn, shard, stack);
  const bool is_ring = shard.context_kind == ContextKind::ring && shard.context > 1;
  const bool is_ulysses = shard.context_kind == ContextKind::ulysses && shard.context > 1;
  if (is_fused(list) && is_ring) {
    ring_backward(list);
  } else if (is_fused(list) && is_ulysses) {
    ulysses_backward(list, kind);
  } else {
    gather_keys(list);
    if (is_fused(list)) {
      fused_attention(list, whole_work(dnn, shard, list.sizes, kind), true);
    } else {
      unfused_backward(list);
    }
    scatter_gradients(list);
  }
  return list.take();
}

}  // namespace sim::dnn
