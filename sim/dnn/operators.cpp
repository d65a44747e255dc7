// Counts over a rank's operators: parameters, the optimizer's traffic, model FLOPs.
#include <cmath>

#include "sim/dnn/experts.h"

namespace sim::dnn {
namespace {

// Elements that one launch of a fused multi-tensor optimizer covers: 320 chunks of 65,536.
// Source: NVIDIA apex, csrc/multi_tensor_apply.cuh.
constexpr double elements_per_launch = 320.0 * 65536;

double norm_parameters(const Transformer& dnn) {
  return static_cast<double>(dnn.hidden) * (dnn.norm == Norm::layer_norm ? 2 : 1);
}

// A feed-forward block of inner width `ffn` on this rank. Biases behind row-parallel products are
// whole on every rank.
double block_share(const Transformer& dnn, std::int64_t ffn) {
  const auto hidden = static_cast<double>(dnn.hidden), inner = static_cast<double>(ffn);
  const double inputs = dnn.gated ? 2 * inner : inner;
  return hidden * (inputs + inner) + (dnn.mlp_bias ? inputs + hidden : 0);
}

// Down projections are whole, up projections split by heads.
double latent_share(const Transformer& dnn, const LocalSizes& sizes) {
  const LatentAttention& latent = dnn.latent;
  const auto hidden = static_cast<double>(dnn.hidden);
  const auto query_rank = static_cast<double>(latent.query_rank);
  const auto key_rank = static_cast<double>(latent.key_value_rank);
  const double down = query_rank + key_rank + static_cast<double>(latent.rotary_size);
  const std::int64_t plain_size = dnn.head_size - latent.rotary_size;
  const auto queries = static_cast<double>(sizes.query_width);
  const auto keys = static_cast<double>(sizes.heads * (plain_size + latent.value_size));
  return hidden * down + (query_rank > 0 ? query_rank : hidden) * queries + key_rank * keys +
         (dnn.attention_bias ? down : 0);
}

double attention_share(const Transformer& dnn, const LocalSizes& sizes) {
  const auto hidden = static_cast<double>(dnn.hidden);
  const auto qkv = static_cast<double>(sizes.query_width + sizes.kv_width + sizes.value_width);
  double sum =
      dnn.is_latent() ? latent_share(dnn, sizes) : hidden * qkv + (dnn.attention_bias ? qkv : 0);
  sum += hidden * static_cast<double>(sizes.attention_width) + (dnn.output_bias ? hidden : 0);
  return sum + (dnn.attention_sinks ? static_cast<double>(sizes.heads) : 0);
}

// The router is whole on every rank, the shared experts are split like a dense block.
double unrouted_share(const Transformer& dnn, const ExpertSizes& experts) {
  const auto scores = static_cast<double>(dnn.experts.count);
  return static_cast<double>(dnn.hidden) * scores + (dnn.experts.router_bias ? scores : 0) +
         (experts.shared_ffn > 0 ? block_share(dnn, experts.shared_ffn) : 0);
}

}  // namespace

std::vector<Operator> optimizer_operators(double parameters, const SoftwareStack& stack) {
  if (parameters <= 0) return {};
  Operator o;
  o.name = "optimizer";
  o.elements = parameters;
  o.bytes = Bytes(parameters * stack.optimizer_bytes_per_parameter);
  o.kernels = static_cast<int>(std::ceil(parameters / elements_per_launch));
  return {o};
}

ShardParameters shard_parameters(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack, const LayerKind& kind) {
  const LocalSizes sizes(dnn, shard, stack);
  const auto width = static_cast<double>(dnn.embedding_width());
  const auto hidden = static_cast<double>(dnn.hidden);
  const auto rows = static_cast<double>(sizes.vocabulary);
  const double projection = dnn.embedding_width() != dnn.hidden ? width * hidden : 0;
  ShardParameters result;
  const ExpertSizes experts(dnn, shard, sizes);
  result.layer = attention_share(dnn, sizes) + static_cast<double>(layer_norm_parameters(dnn)) +
                 (kind.is_moe ? unrouted_share(dnn, experts) : block_share(dnn, sizes.ffn));
  if (kind.is_moe) {
    result.experts = static_cast<double>(experts.groups) * block_share(dnn, experts.ffn);
  }
  if (dnn.prediction_modules > 0) {
    result.prediction = 3 * norm_parameters(dnn) +
                        2 * hidden * std::ceil(hidden / static_cast<double>(shard.tensor));
  }
  result.embedding = rows * width + projection;
  if (dnn.position == Position::learned) {
    result.embedding += static_cast<double>(dnn.positions) * hidden;
  }
  if (dnn.embedding_norm) result.embedding += norm_parameters(dnn);
  result.head = projection;
  if (dnn.final_norm) result.head += norm_parameters(dnn);
  if (!dnn.tied_embedding) result.head += rows * width;
  if (dnn.head_bias) result.head += rows;
  return result;
}

ShardParameters shard_parameters(const Transformer& dnn, const Shard& shard,
                                 const SoftwareStack& stack) {
  return shard_parameters(dnn, shard, stack, only_kind(dnn));
}

namespace {

// Of one token through a layer's attention, forward and backward: 12 width keys.
double attention_flops(const Transformer& dnn, const LayerKind& kind, std::int64_t sequence,
                       bool causal) {
  const auto width = static_cast<double>(dnn.query_width() + dnn.attention_width()) / 2;
  const auto tokens = static_cast<double>(sequence), window = static_cast<double>(kind.window);
  if (kind.span == AttentionSpan::full || kind.window >= sequence) {
    return 12 * width * tokens * (causal ? 0.5 : 1);
  }
  if (!causal) return 12 * width * window;
  const double keys =
      kind.span == AttentionSpan::chunked ? window / 2 : window - window * window / (2 * tokens);
  return 12 * width * keys;
}

double layer_flops(const Transformer& dnn, const LayerKind& kind, std::int64_t sequence,
                   bool causal) {
  const std::int64_t met =
      layer_parameters(dnn, kind) - (kind.is_moe ? inactive_parameters(dnn) : 0);
  return 6 * static_cast<double>(met) + attention_flops(dnn, kind, sequence, causal);
}

}  // namespace

double model_flops_per_token(const Transformer& dnn, std::int64_t sequence, bool causal) {
  double head = static_cast<double>(head_parameters(dnn));
  if (dnn.tied_embedding) {
    head += static_cast<double>(dnn.vocabulary) * static_cast<double>(dnn.embedding_width());
  }
  double sum = 6 * head;
  for (int layer = 0; layer < dnn.layers; ++layer) {
    sum += layer_flops(dnn, layer_kind(dnn, layer), sequence, causal);
  }
  const double modules = dnn.prediction_modules;
  if (modules > 0) {
    const auto hidden = static_cast<double>(dnn.hidden);
    sum += modules * (layer_flops(dnn, prediction_kind(dnn), sequence, causal) + 6 * head +
                      6 * (2 * hidden * hidden + 2 * norm_parameters(dnn)));
  }
  return sum;
}

}  // namespace sim::dnn
