// Counts over a rank's operators: parameters, the optimizer's traffic, model FLOPs.
#include "sim/dnn/operators.h"

#include <cmath>

#include "sim/dnn/local_sizes.h"

namespace sim::dnn {
namespace {

// Elements that one launch of a fused multi-tensor optimizer covers: 320 chunks of 65,536.
// Source: NVIDIA apex, csrc/multi_tensor_apply.cuh.
constexpr double elements_per_launch = 320.0 * 65536;

double norm_parameters(const Transformer& dnn) {
  return static_cast<double>(dnn.hidden) * (dnn.norm == Norm::layer_norm ? 2 : 1);
}

double layer_share(const Transformer& dnn, const LocalSizes& sizes) {
  const auto hidden = static_cast<double>(dnn.hidden);
  const auto queries = static_cast<double>(sizes.query_width);
  const auto qkv = static_cast<double>(sizes.query_width + 2 * sizes.kv_width);
  const auto inputs = static_cast<double>(sizes.mlp_inputs);
  double sum = hidden * (qkv + queries + inputs + static_cast<double>(sizes.ffn));
  if (dnn.attention_bias) sum += qkv;
  if (dnn.output_bias) sum += hidden;
  if (dnn.mlp_bias) sum += inputs + hidden;
  return sum + static_cast<double>(layer_norm_parameters(dnn));
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
  static_cast<void>(kind);
  const LocalSizes sizes(dnn, shard, stack);
  const auto width = static_cast<double>(dnn.embedding_width());
  const auto hidden = static_cast<double>(dnn.hidden);
  const auto rows = static_cast<double>(sizes.vocabulary);
  const double projection = dnn.embedding_width() != dnn.hidden ? width * hidden : 0;
  ShardParameters result;
  result.layer = layer_share(dnn, sizes);
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

double model_flops_per_token(const Transformer& dnn, std::int64_t sequence, bool causal) {
  double parameters = static_cast<double>(dnn.layers) * static_cast<double>(layer_parameters(dnn)) +
                      static_cast<double>(head_parameters(dnn));
  if (dnn.tied_embedding) {
    parameters += static_cast<double>(dnn.vocabulary) * static_cast<double>(dnn.embedding_width());
  }
  const double attention =
      12.0 * dnn.layers * static_cast<double>(dnn.query_width()) * static_cast<double>(sequence);
  return 6 * parameters + (causal ? attention / 2 : attention);
}

}  // namespace sim::dnn
