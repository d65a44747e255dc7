// What a transformer is, independent of how it is cut: sizes, variants, parameter counts.
#pragma once

#include <cstdint>
#include <string>

namespace sim::dnn {

enum class Position { rotary, learned, alibi, none };
enum class Norm { layer_norm, rms_norm };
enum class Activation { gelu, relu, silu };

struct Transformer {
  std::string name;
  int layers = 0;
  std::int64_t hidden = 0;
  int heads = 0;
  int kv_heads = 0;             // = heads without grouped-query attention
  std::int64_t head_size = 0;   // usually hidden / heads
  std::int64_t ffn = 0;         // inner width of the feed-forward block
  std::int64_t vocabulary = 0;  // as stored, unpadded
  std::int64_t positions = 0;   // learned position rows; 0 otherwise
  Position position = Position::rotary;
  Norm norm = Norm::rms_norm;
  Activation activation = Activation::silu;
  bool gated = true;            // SwiGLU, GeGLU: two input projections
  bool attention_bias = false;  // on query, key and value
  bool output_bias = false;     // on the attention output projection
  bool mlp_bias = false;
  bool head_bias = false;
  bool tied_embedding = false;  // head shares the input embedding
  bool query_key_norm = false;  // Qwen3: a norm of head_size on q and on k
  bool embedding_norm = false;  // BLOOM
  bool sandwich_norm = false;   // Gemma 2/3: norms also after attention and MLP
  bool final_norm = true;
  bool causal = true;
  double dropout = 0;               // 0: no dropout kernels
  std::int64_t embedding_size = 0;  // OPT-350m: narrower embedding; 0: hidden

  // Widths of all query heads, of all key heads (= of all value heads), of an embedding row.
  std::int64_t query_width() const { return heads * head_size; }
  std::int64_t kv_width() const { return kv_heads * head_size; }
  std::int64_t embedding_width() const { return embedding_size > 0 ? embedding_size : hidden; }
};

// To the last parameter.
std::int64_t layer_parameters(const Transformer& dnn);
std::int64_t embedding_parameters(const Transformer& dnn);  // token + learned position (+ norm)
std::int64_t head_parameters(const Transformer& dnn);  // final norm + output projection if not tied
std::int64_t total_parameters(const Transformer& dnn);

// Of a layer: what is multiplied by every token (no biases, no norms), and the norms alone.
std::int64_t layer_matrix_parameters(const Transformer& dnn);
std::int64_t layer_norm_parameters(const Transformer& dnn);

}  // namespace sim::dnn
