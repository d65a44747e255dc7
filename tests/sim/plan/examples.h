// Two dnns that the tests of plans share.
#pragma once

#include "sim/dnn/transformer.h"

namespace sim::plan {

// 8,030,261,248 parameters: 32 layers of 218,112,000, an embedding of 525,336,576 and a head of
// 525,340,672. Source: Llama Team, arXiv 2407.21783, table 3.
inline dnn::Transformer llama_8b() {
  dnn::Transformer dnn;
  dnn.layers = 32, dnn.hidden = 4096, dnn.heads = 32, dnn.kv_heads = 8, dnn.head_size = 128;
  dnn.ffn = 14336, dnn.vocabulary = 128256;
  return dnn;
}

// With biases, dropout, learned positions and a tied embedding, as Megatron-LM trains it.
// Source: Korthikanti et al., 2022, table 3.
inline dnn::Transformer gpt_175b() {
  dnn::Transformer dnn;
  dnn.layers = 96, dnn.hidden = 12288, dnn.heads = dnn.kv_heads = 96, dnn.head_size = 128;
  dnn.ffn = 49152, dnn.vocabulary = 51200, dnn.positions = 2048;
  dnn.position = dnn::Position::learned;
  dnn.norm = dnn::Norm::layer_norm;
  dnn.activation = dnn::Activation::gelu;
  dnn.gated = false;
  dnn.attention_bias = dnn.output_bias = dnn.mlp_bias = dnn.tied_embedding = true;
  dnn.dropout = 0.1;
  return dnn;
}

}  // namespace sim::plan
