// Transformers and stacks that several tests of this module use.
#pragma once

#include <string>
#include <vector>

#include "sim/dnn/operators.h"

namespace sim::dnn {

// GPT-2 and its descendants: biases everywhere, LayerNorm, learned positions, dropout.
inline Transformer gpt(int layers, std::int64_t hidden, int heads, std::int64_t vocabulary,
                       std::int64_t positions) {
  Transformer dnn;
  dnn.layers = layers;
  dnn.hidden = hidden;
  dnn.heads = dnn.kv_heads = heads;
  dnn.head_size = hidden / heads;
  dnn.ffn = 4 * hidden;
  dnn.vocabulary = vocabulary;
  dnn.positions = positions;
  dnn.position = Position::learned;
  dnn.norm = Norm::layer_norm;
  dnn.activation = Activation::gelu;
  dnn.gated = false;
  dnn.attention_bias = dnn.output_bias = dnn.mlp_bias = true;
  dnn.tied_embedding = true;
  dnn.dropout = 0.1;
  return dnn;
}

inline Transformer llama(int layers, std::int64_t hidden, int heads, int kv_heads, std::int64_t ffn,
                         std::int64_t vocabulary) {
  Transformer dnn;
  dnn.layers = layers;
  dnn.hidden = hidden;
  dnn.heads = heads;
  dnn.kv_heads = kv_heads;
  dnn.head_size = hidden / heads;
  dnn.ffn = ffn;
  dnn.vocabulary = vocabulary;
  return dnn;
}

inline Transformer llama_8b() { return llama(32, 4096, 32, 8, 14336, 128256); }

inline Transformer mixtral_8x7b() {
  Transformer dnn = llama(32, 4096, 32, 8, 14336, 32000);
  dnn.experts = {.count = 8, .per_token = 2, .ffn = 14336};
  return dnn;
}

// DeepSeek-V3: latent attention, one shared expert, three dense layers, one module of prediction.
inline Transformer deepseek_v3() {
  Transformer dnn = llama(61, 7168, 128, 128, 18432, 129280);
  dnn.head_size = 192;
  dnn.latent = {.query_rank = 1536, .key_value_rank = 512, .rotary_size = 64, .value_size = 128};
  dnn.experts = {.count = 256,
                 .per_token = 8,
                 .ffn = 2048,
                 .shared_ffn = 2048,
                 .dense_first = 3,
                 .router = Router::sigmoid,
                 .router_bias = true};
  dnn.prediction_modules = 1;
  return dnn;
}

// gpt-oss-20b: biases everywhere, sinks, a window of 128 in every other layer.
inline Transformer gpt_oss_20b() {
  Transformer dnn = llama(24, 2880, 64, 8, 2880, 201088);
  dnn.head_size = 64;
  dnn.attention_bias = dnn.output_bias = dnn.mlp_bias = dnn.attention_sinks = true;
  dnn.experts = {.count = 32, .per_token = 4, .ffn = 2880, .router_bias = true};
  dnn.span = AttentionSpan::sliding;
  dnn.window = 128;
  dnn.full_period = 2;
  return dnn;
}

// Llama 4 Maverick: experts in every other layer, chunks of 8192 in three of four.
inline Transformer llama_4_maverick() {
  Transformer dnn = llama(48, 5120, 40, 8, 16384, 202048);
  dnn.experts = {.count = 128, .per_token = 1, .ffn = 8192, .shared_ffn = 8192, .period = 2};
  dnn.span = AttentionSpan::chunked;
  dnn.window = 8192;
  dnn.full_period = 4;
  dnn.query_key_gain = false;
  return dnn;
}

// No padding, so that sums are those of the transformer.
inline SoftwareStack stack_of(SoftwareStack::Attention attention) {
  SoftwareStack stack;
  stack.attention = attention;
  stack.vocabulary_multiple = 1;
  return stack;
}
inline SoftwareStack unfused() { return stack_of(SoftwareStack::Attention::unfused); }
inline SoftwareStack flash() { return stack_of(SoftwareStack::Attention::flash2); }

inline double flops_of(const std::vector<Operator>& operators, OperatorKind kind) {
  double sum = 0;
  for (const Operator& o : operators) {
    if (o.kind == kind) sum += o.flops.value();
  }
  return sum;
}
inline double gemm_flops(const std::vector<Operator>& operators) {
  return flops_of(operators, OperatorKind::gemm);
}

inline std::vector<Operator> of_kind(const std::vector<Operator>& operators, OperatorKind kind) {
  std::vector<Operator> result;
  for (const Operator& o : operators) {
    if (o.kind == kind) result.push_back(o);
  }
  return result;
}

inline std::vector<Operator> collectives(const std::vector<Operator>& operators) {
  return of_kind(operators, OperatorKind::collective);
}

inline const Operator* named(const std::vector<Operator>& operators, const std::string& name) {
  for (const Operator& o : operators) {
    if (o.name == name) return &o;
  }
  return nullptr;
}

inline std::vector<std::string> names(const std::vector<Operator>& operators) {
  std::vector<std::string> result;
  for (const Operator& o : operators) result.push_back(o.name);
  return result;
}

}  // namespace sim::dnn
