// What keeps a transformer from being cut as asked, in the words of the user's plan.
#include <fmt/format.h>

#include "sim/dnn/local_sizes.h"
#include "sim/dnn/operators.h"

namespace sim::dnn {

std::optional<std::string> context_obstacle(const Transformer& dnn, const Shard& shard) {
  const int context = shard.context;
  if (context == 1) return std::nullopt;
  if (shard.context_kind == ContextKind::ring) {
    if (dnn.span != AttentionSpan::full) {
      return fmt::format(
          "keys that go round a ring of {} ranks are seen by all, but layers of this "
          "dnn see a window of {} tokens",
          context, dnn.window);
    }
    if (dnn.causal && shard.sequence % (std::int64_t{2} * context) != 0) {
      return fmt::format(
          "a causal ring of {} ranks cuts sequences into {} equal parts, which {} "
          "tokens are not",
          context, 2 * context, shard.sequence);
    }
  }
  if (shard.context_kind == ContextKind::ulysses) {
    const std::int64_t heads = dnn.heads / shard.tensor;
    const std::int64_t kv_heads = (dnn.kv_heads + shard.tensor - 1) / shard.tensor;
    if (heads % context != 0) {
      return fmt::format("context {} does not divide the {} query heads of a tensor rank", context,
                         heads);
    }
    if (kv_heads % context != 0) {
      return fmt::format("context {} does not divide the {} key and value heads of a tensor rank",
                         context, kv_heads);
    }
  }
  return std::nullopt;
}

// Source: Megatron-LM, megatron/training/arguments.py: experts beside tensor parallelism need
// sequence parallelism.
std::optional<std::string> expert_obstacle(const Transformer& dnn, const Shard& shard) {
  const bool is_cut = shard.expert > 1 || shard.expert_tensor > 1;
  if (!dnn.is_moe()) {
    if (!is_cut) return std::nullopt;
    return fmt::format("expert {} x {} cuts experts, but the dnn has none", shard.expert,
                       shard.expert_tensor);
  }
  if (dnn.experts.count % shard.expert != 0) {
    return fmt::format("expert {} does not divide the {} experts", shard.expert, dnn.experts.count);
  }
  if (dnn.experts.ffn % shard.expert_tensor != 0) {
    return fmt::format("expert tensor {} does not divide the {} columns of an expert",
                       shard.expert_tensor, dnn.experts.ffn);
  }
  if (shard.tensor > 1 && !shard.sequence_parallel) {
    return fmt::format(
        "tensor {} without sequence parallelism would send every token to the "
        "experts {} times",
        shard.tensor, shard.tensor);
  }
  return std::nullopt;
}

}  // namespace sim::dnn
