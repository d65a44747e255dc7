// What a transformer is, independent of how it is cut: sizes, variants, parameter counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sim::dnn {

enum class Position { rotary, learned, alibi, none };
enum class Norm { layer_norm, rms_norm };
enum class Activation { gelu, relu, silu };
enum class Router { softmax, sigmoid };

// A mixture of experts in place of the feed-forward block of some layers. An expert is gated, and
// has biases, as the dense block does.
struct Experts {
  int count = 0;                // routed; 0: every layer is dense
  int per_token = 0;            // experts that a token is sent to
  std::int64_t ffn = 0;         // inner width of one
  std::int64_t shared_ffn = 0;  // of all shared experts together, which every token passes
  int dense_first = 0;          // so many layers at the beginning keep the dense block
  int period = 1;               // of the others, layer i (from 0) has experts where period | i + 1
  Router router = Router::softmax;
  bool router_bias = false;    // added to the scores: trained, or steered to balance the load
  double capacity_factor = 0;  // rows of an expert: its even share times this; 0: all are taken
};

// Multi-head latent attention: queries, keys and values are projected down and up again. A head's
// query and key have a part without position (head_size - rotary_size) and one with it, which all
// heads' keys share. Source: DeepSeek-AI, "DeepSeek-V2", 2024, section 2.1.
struct LatentAttention {
  std::int64_t query_rank = 0;      // 0: queries come from one projection
  std::int64_t key_value_rank = 0;  // 0: attention is not latent
  std::int64_t rotary_size = 0;
  std::int64_t value_size = 0;  // of a head
};

// Which keys a token sees.
enum class AttentionSpan {
  full,     // all (causal: before it)
  sliding,  // the last `window`, itself included
  chunked,  // those of its chunk of `window` tokens
};

// What tells one layer from another.
struct LayerKind {
  bool is_moe = false;
  AttentionSpan span = AttentionSpan::full;
  std::int64_t window = 0;  // tokens; 0: full
  bool operator==(const LayerKind&) const = default;
};

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
  bool query_key_gain = true;       // the norm of q and k has gains; Llama 4: it has none
  bool attention_sinks = false;     // gpt-oss: one more score for every head, a parameter

  Experts experts;
  LatentAttention latent;
  AttentionSpan span = AttentionSpan::full;  // of the layers that do not see everything
  std::int64_t window = 0;                   // of those
  int full_period = 0;         // layer i (from 0) sees everything where this divides i + 1; 0: none
  int prediction_modules = 0;  // multi-token prediction: further tokens, one layer each

  // Widths of all query heads, of all key heads, of all value heads, of the attention's output (as
  // many values as there are query heads), of an embedding row.
  std::int64_t query_width() const { return heads * head_size; }
  std::int64_t kv_width() const { return kv_heads * head_size; }
  std::int64_t value_head_size() const { return is_latent() ? latent.value_size : head_size; }
  std::int64_t attention_width() const { return heads * value_head_size(); }
  std::int64_t embedding_width() const { return embedding_size > 0 ? embedding_size : hidden; }
  bool is_moe() const { return experts.count > 0; }
  bool is_latent() const { return latent.key_value_rank > 0; }
};

// The different kinds of layers, in order of first use, and which of them each layer is.
struct LayerKinds {
  std::vector<LayerKind> kinds;
  std::vector<std::size_t> of_layer;  // index into kinds
};
LayerKinds layer_kinds(const Transformer& dnn);
LayerKind layer_kind(const Transformer& dnn, int layer);
// The layer of a module of multi-token prediction is of the kind of the last layer.
LayerKind prediction_kind(const Transformer& dnn);
// The kind of all layers. REQUIRES: they are alike.
LayerKind only_kind(const Transformer& dnn);

// To the last parameter. Overloads without a kind are for transformers whose layers are alike.
std::int64_t layer_parameters(const Transformer& dnn, const LayerKind& kind);
std::int64_t layer_parameters(const Transformer& dnn);
std::int64_t embedding_parameters(const Transformer& dnn);  // token + learned position (+ norm)
std::int64_t head_parameters(const Transformer& dnn);  // final norm + output projection if not tied
// Of all modules of multi-token prediction; embedding and output projection are the main ones.
std::int64_t prediction_parameters(const Transformer& dnn);
std::int64_t total_parameters(const Transformer& dnn);  // all of the above
// Those that one token meets: of the routed experts only `per_token`, and no prediction modules.
std::int64_t active_parameters(const Transformer& dnn);

// Of a layer: what a token is multiplied by (no biases, no norms), and the norms alone.
std::int64_t layer_matrix_parameters(const Transformer& dnn, const LayerKind& kind);
std::int64_t layer_matrix_parameters(const Transformer& dnn);
std::int64_t layer_norm_parameters(const Transformer& dnn);
// Of a layer with experts: all routed ones, and those that a token is not sent to.
std::int64_t routed_parameters(const Transformer& dnn);
std::int64_t inactive_parameters(const Transformer& dnn);

}  // namespace sim::dnn
