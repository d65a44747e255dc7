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
