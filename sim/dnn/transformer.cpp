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

}  // namespace

std::int64_t layer_norm_parameters(const Transformer& dnn) {
  const int norms = dnn.sandwich_norm ? 4 : 2;
  const int head_norms = dnn.query_key_norm ? 2 : 0;
  return norms * norm_parameters(dnn, dnn.hidden) +
         head_norms * norm_parameters(dnn, dnn.head_size);
}

std::int64_t layer_matrix_parameters(const Transformer& dnn) {
  const std::int64_t inputs = dnn.gated ? 2 : 1;
  return dnn.hidden * (2 * dnn.query_width() + 2 * dnn.kv_width()) +
         (inputs + 1) * dnn.hidden * dnn.ffn;
}

std::int64_t layer_parameters(const Transformer& dnn) {
  const std::int64_t inputs = dnn.gated ? 2 : 1;
  return linear_parameters(dnn.hidden, dnn.query_width() + 2 * dnn.kv_width(), dnn.attention_bias) +
         linear_parameters(dnn.query_width(), dnn.hidden, dnn.output_bias) +
         linear_parameters(dnn.hidden, inputs * dnn.ffn, dnn.mlp_bias) +
         linear_parameters(dnn.ffn, dnn.hidden, dnn.mlp_bias) + layer_norm_parameters(dnn);
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

std::int64_t total_parameters(const Transformer& dnn) {
  return embedding_parameters(dnn) + dnn.layers * layer_parameters(dnn) + head_parameters(dnn);
}

}  // namespace sim::dnn
