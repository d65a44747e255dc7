// Parameter counts of a transformer, matrix by matrix.
#include "sim/dnn/transformer.h"

namespace sim::dnn {
namespace {

// Gain, and an offset for a LayerNorm.
std::int64_t norm_parameters(const Transformer& dnn, std::int64_t width) {
  return dnn.norm == Norm::layer_norm ? 2 * width : width;
}

std::int64_t linear_parameters(std::int64_t inputs, std::int64_t outputs, bool has_bias) {
  return inputs * outputs + (has_bias ? outputs : 0);
}

// A feed-forward block of inner width `ffn`.
std::int64_t block_parameters(const Transformer& dnn, std::int64_t ffn) {
  const std::int64_t inputs = dnn.gated ? 2 : 1;
  return linear_parameters(dnn.hidden, inputs * ffn, dnn.mlp_bias) +
         linear_parameters(ffn, dnn.hidden, dnn.mlp_bias);
}

// Biases on query, key and value stand at the projections that leave the hidden state.
std::int64_t latent_parameters(const Transformer& dnn) {
  const LatentAttention& latent = dnn.latent;
  const std::int64_t plain_size = dnn.head_size - latent.rotary_size;
  const std::int64_t rank = latent.key_value_rank;
  std::int64_t sum = linear_parameters(dnn.hidden, rank + latent.rotary_size, dnn.attention_bias) +
                     rank * dnn.heads * (plain_size + latent.value_size);
  if (latent.query_rank > 0) {
    sum += linear_parameters(dnn.hidden, latent.query_rank, dnn.attention_bias) +
           latent.query_rank * dnn.query_width();
  } else {
    sum += dnn.hidden * dnn.query_width();
  }
  return sum;
}

std::int64_t attention_parameters(const Transformer& dnn) {
  const std::int64_t inputs =
      dnn.is_latent() ? latent_parameters(dnn)
                      : linear_parameters(dnn.hidden, dnn.query_width() + 2 * dnn.kv_width(),
                                          dnn.attention_bias);
  return inputs + linear_parameters(dnn.attention_width(), dnn.hidden, dnn.output_bias) +
         (dnn.attention_sinks ? dnn.heads : 0);
}

std::int64_t router_parameters(const Transformer& dnn) {
  return linear_parameters(dnn.hidden, dnn.experts.count, dnn.experts.router_bias);
}

std::int64_t shared_parameters(const Transformer& dnn) {
  return dnn.experts.shared_ffn > 0 ? block_parameters(dnn, dnn.experts.shared_ffn) : 0;
}

// Two norms, of the hidden state and of the next token's embedding, the projection of both, and a
// norm in front of the shared head.
std::int64_t module_parameters(const Transformer& dnn) {
  return 3 * norm_parameters(dnn, dnn.hidden) + 2 * dnn.hidden * dnn.hidden;
}

}  // namespace

std::int64_t layer_norm_parameters(const Transformer& dnn) {
  const int norms = dnn.sandwich_norm ? 4 : 2;
  const int head_norms = dnn.query_key_norm && dnn.query_key_gain ? 2 : 0;
  std::int64_t sum =
      norms * norm_parameters(dnn, dnn.hidden) + head_norms * norm_parameters(dnn, dnn.head_size);
  if (dnn.is_latent()) {
    sum += norm_parameters(dnn, dnn.latent.key_value_rank) +
           norm_parameters(dnn, dnn.latent.query_rank);
  }
  return sum;
}

std::int64_t layer_matrix_parameters(const Transformer& dnn, const LayerKind& kind) {
  Transformer bare = dnn;
  bare.attention_bias = bare.output_bias = bare.mlp_bias = bare.attention_sinks = false;
  bare.experts.router_bias = false;
  std::int64_t sum = layer_parameters(bare, kind) - layer_norm_parameters(bare);
  if (kind.is_moe) sum -= inactive_parameters(bare);
  return sum;
}

std::int64_t layer_matrix_parameters(const Transformer& dnn) {
  return layer_matrix_parameters(dnn, only_kind(dnn));
}

std::int64_t routed_parameters(const Transformer& dnn) {
  return dnn.experts.count * block_parameters(dnn, dnn.experts.ffn);
}

std::int64_t inactive_parameters(const Transformer& dnn) {
  return (dnn.experts.count - dnn.experts.per_token) * block_parameters(dnn, dnn.experts.ffn);
}

std::int64_t layer_parameters(const Transformer& dnn, const LayerKind& kind) {
  const std::int64_t block =
      kind.is_moe ? router_parameters(dnn) + routed_parameters(dnn) + shared_parameters(dnn)
                  : block_parameters(dnn, dnn.ffn);
  return attention_parameters(dnn) + block + layer_norm_parameters(dnn);
}

std::int64_t layer_parameters(const Transformer& dnn) {
  return layer_parameters(dnn, only_kind(dnn));
}

std::int64_t embedding_parameters(const Transformer& dnn) {
  const std::int64_t width = dnn.embedding_width();
  std::int64_t sum = dnn.vocabulary * width;
  if (dnn.position == Position::learned) sum += dnn.positions * dnn.hidden;
  if (dnn.embedding_norm) sum += norm_parameters(dnn, dnn.hidden);
  if (width != dnn.hidden) sum += width * dnn.hidden;
  return sum;
}

std::int64_t head_parameters(const Transformer& dnn) {
  const std::int64_t width = dnn.embedding_width();
  std::int64_t sum = dnn.final_norm ? norm_parameters(dnn, dnn.hidden) : 0;
  if (width != dnn.hidden) sum += dnn.hidden * width;
  if (!dnn.tied_embedding) sum += dnn.vocabulary * width;
  if (dnn.head_bias) sum += dnn.vocabulary;
  return sum;
}

std::int64_t prediction_parameters(const Transformer& dnn) {
  if (dnn.prediction_modules == 0) return 0;
  return dnn.prediction_modules *
         (module_parameters(dnn) + layer_parameters(dnn, prediction_kind(dnn)));
}

std::int64_t total_parameters(const Transformer& dnn) {
  std::int64_t sum = embedding_parameters(dnn) + head_parameters(dnn) + prediction_parameters(dnn);
  for (int layer = 0; layer < dnn.layers; ++layer) {
    sum += layer_parameters(dnn, layer_kind(dnn, layer));
  }
  return sum;
}

std::int64_t active_parameters(const Transformer& dnn) {
  std::int64_t sum = embedding_parameters(dnn) + head_parameters(dnn);
  for (int layer = 0; layer < dnn.layers; ++layer) {
    const LayerKind kind = layer_kind(dnn, layer);
    sum += layer_parameters(dnn, kind) - (kind.is_moe ? inactive_parameters(dnn) : 0);
  }
  return sum;
}

}  // namespace sim::dnn
