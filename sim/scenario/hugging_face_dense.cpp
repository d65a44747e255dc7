// The families of Hugging Face whose layers are dense. Where a family leaves a size out, its own
// rule fills it. Source: huggingface/transformers, src/transformers/models/*/configuration_*.py and
// modeling_*.py.
#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/encoding.h"
#include "sim/scenario/hugging_face_families.h"

namespace sim::scenario {
namespace {

using dnn::Activation;
using dnn::AttentionSpan;
using dnn::Norm;
using dnn::Position;
using dnn::Transformer;
using Config = HuggingFaceConfig;

void check_layer_types(Config& config) {
  const Value* types = config.find({"layer_types"});
  if (types == nullptr) return;
  for (const Value& type : types->items) {
    if (type.text == "full_attention" || type.text == "sliding_attention") continue;
    config.error(type, fmt::format("a layer of type '{}' is not supported", shown(type.text)), "",
                 "supported: full_attention, sliding_attention");
    return;
  }
}

// Of Qwen, whose layers see windows behind the first ones only.
void check_window(Config& config, bool is_used) {
  const Value* window = config.find({"sliding_window"});
  config.ignore({"sliding_window_pattern", "_sliding_window_pattern"});
  if (window == nullptr || !is_used) return;
  config.warning(*window,
                 fmt::format("an attention window of {} is not modelled", shown(window->text, 20)),
                 "longer sequences are counted with attention to all earlier tokens");
}

void read_dense_sizes(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  check_layer_types(config);
}

void set_gpt_shape(Transformer& dnn) {
  dnn.norm = Norm::layer_norm;
  dnn.gated = false;
  dnn.attention_bias = dnn.output_bias = dnn.mlp_bias = true;
  dnn.kv_heads = dnn.heads;
}

// One probability stands for all: only whether there are dropout kernels matters.
double dropout_of(Config& config, std::initializer_list<const char*> keys, double otherwise) {
  double least = 1, most = 0;
  for (const char* key : keys) {
    const double share = config.share(key, otherwise);
    least = std::min(least, share);
    most = std::max(most, share);
  }
  if (least == 0 && most > 0) {
    config.warning(*config.find(keys),
                   fmt::format("some dropout is 0 and some is {}: all are taken as that", most));
  }
  return most;
}

}  // namespace

// Layers that see everything must come at a fixed distance, the first of them at its end.
void read_pattern(Config& config, Transformer& dnn, AttentionSpan span, const char* width_key,
                  int period_otherwise) {
  dnn.span = span;
  dnn.window = config.count({width_key});
  dnn.full_period = period_otherwise;
  const Value* types = config.find({"layer_types"});
  if (types == nullptr) return;
  const std::string full = "full_attention";
  const std::string narrow =
      span == AttentionSpan::chunked ? "chunked_attention" : "sliding_attention";
  dnn.full_period = 0;
  for (std::size_t i = 0; i < types->items.size() && dnn.full_period == 0; ++i) {
    if (types->items[i].text == full) dnn.full_period = static_cast<int>(i) + 1;
  }
  for (std::size_t i = 0; i < types->items.size(); ++i) {
    const bool is_full = dnn::layer_kind(dnn, static_cast<int>(i)).span == AttentionSpan::full;
    const Value& type = types->items[i];
    if (type.text == (is_full ? full : narrow)) continue;
    config.error(type,
                 fmt::format("layer {} of type '{}' breaks the pattern of the layers before it", i,
                             shown(type.text)),
                 "", fmt::format("supported: every n-th layer {}, others {}", full, narrow));
    return;
  }
}

void read_llama_sizes(Config& config, Transformer& dnn) {
  dnn.hidden = config.count({"hidden_size"});
  dnn.layers = static_cast<int>(config.count({"num_hidden_layers"}));
  dnn.heads = static_cast<int>(config.count({"num_attention_heads"}));
  dnn.kv_heads =
      static_cast<int>(config.optional_count({"num_key_value_heads"}).value_or(dnn.heads));
  dnn.head_size = config.optional_count({"head_dim"}).value_or(0);
  dnn.ffn = config.count({"intermediate_size"});
  dnn.vocabulary = config.count({"vocab_size"});
  dnn.dropout = config.share("attention_dropout", 0);
  config.ignore({"max_position_embeddings"});
  config.require("partial_rotary_factor", "1.0", "rotary positions over a part of each head");
}

void read_llama(Config& config, Transformer& dnn) {
  read_dense_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.attention_bias = dnn.output_bias = config.flag("attention_bias", false);
  dnn.mlp_bias = config.flag("mlp_bias", false);
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
}

void read_mistral(Config& config, Transformer& dnn) {
  read_dense_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  if (config.find({"sliding_window"}) != nullptr) {
    read_pattern(config, dnn, dnn::AttentionSpan::sliding, "sliding_window", 0);
  }
}

void read_qwen2(Config& config, Transformer& dnn) {
  read_dense_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.attention_bias = true;
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  check_window(config, config.flag("use_sliding_window", false));
}

void read_qwen3(Config& config, Transformer& dnn) {
  read_dense_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.attention_bias = dnn.output_bias = config.flag("attention_bias", false);
  dnn.query_key_norm = true;
  if (dnn.head_size == 0) dnn.head_size = 128;
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  check_window(config, config.flag("use_sliding_window", false));
}

// hidden_activation stands above hidden_act, which early files give wrongly as "gelu" or omit.
void read_gemma(Config& config, Transformer& dnn) {
  read_dense_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_activation", "hidden_act"}, "gelu_pytorch_tanh");
  if (dnn.head_size == 0) dnn.head_size = 256;
  dnn.attention_bias = dnn.output_bias = config.flag("attention_bias", false);
  dnn.tied_embedding = config.flag("tie_word_embeddings", true);
  config.require("use_bidirectional_attention", "false", "attention in both directions");
}

void read_gemma2(Config& config, Transformer& dnn) {
  read_gemma(config, dnn);
  dnn.sandwich_norm = true;
  const auto period = config.optional_count({"sliding_window_pattern", "_sliding_window_pattern"});
  if (config.find({"sliding_window"}) == nullptr) return;
  read_pattern(config, dnn, dnn::AttentionSpan::sliding, "sliding_window",
               static_cast<int>(period.value_or(2)));
}

void read_gemma3(Config& config, Transformer& dnn) {
  read_gemma2(config, dnn);
  dnn.query_key_norm = true;
}

void read_gpt2(Config& config, Transformer& dnn) {
  dnn.hidden = config.count({"n_embd", "hidden_size"});
  dnn.layers = static_cast<int>(config.count({"n_layer", "num_hidden_layers"}));
  dnn.heads = static_cast<int>(config.count({"n_head", "num_attention_heads"}));
  set_gpt_shape(dnn);
  dnn.ffn = config.optional_count({"n_inner"}).value_or(4 * dnn.hidden);
  dnn.vocabulary = config.count({"vocab_size"});
  dnn.position = Position::learned;
  dnn.positions = config.count({"n_positions", "n_ctx", "max_position_embeddings"});
  dnn.activation = config.activation({"activation_function"}, "gelu_new");
  dnn.dropout = dropout_of(config, {"resid_pdrop", "embd_pdrop", "attn_pdrop"}, 0.1);
  dnn.tied_embedding = config.flag("tie_word_embeddings", true);
  if (const Value* padded = config.find({"padded_vocab_size"})) {
    if (padded->text != fmt::format("{}", dnn.vocabulary)) {
      config.error(*padded,
                   fmt::format("padded_vocab_size {} differs from vocab_size {}",
                               shown(padded->text, 20), dnn.vocabulary),
                   "the software stack says how the vocabulary is padded");
    }
  }
}

// Positions are stored with an offset of two rows.
void read_opt(Config& config, Transformer& dnn) {
  dnn.hidden = config.count({"hidden_size"});
  dnn.layers = static_cast<int>(config.count({"num_hidden_layers"}));
  dnn.heads = static_cast<int>(config.count({"num_attention_heads"}));
  set_gpt_shape(dnn);
  dnn.ffn = config.count({"ffn_dim"});
  dnn.vocabulary = config.count({"vocab_size"});
  dnn.position = Position::learned;
  dnn.positions = config.count({"max_position_embeddings"}) + 2;
  dnn.activation = config.activation({"activation_function"}, "relu");
  dnn.dropout = dropout_of(config, {"dropout"}, 0.1);
  config.ignore({"attention_dropout"});
  dnn.tied_embedding = config.flag("tie_word_embeddings", true);
  const bool has_bias = config.flag("enable_bias", true);
  dnn.attention_bias = dnn.output_bias = dnn.mlp_bias = has_bias;
  const std::int64_t width = config.optional_count({"word_embed_proj_dim"}).value_or(dnn.hidden);
  dnn.embedding_size = width == dnn.hidden ? 0 : width;
  dnn.final_norm =
      config.flag("do_layer_norm_before", true) && !config.flag("_remove_final_layer_norm", false);
  config.require("layer_norm_elementwise_affine", "true", "norms without gains");
  config.require("activation_dropout", "0", "dropout inside the feed-forward block");
  config.require("layerdrop", "0", "layers are left out at random");
}

void read_bloom(Config& config, Transformer& dnn) {
  dnn.hidden = config.count({"hidden_size", "n_embed", "n_embd"});
  dnn.layers = static_cast<int>(config.count({"n_layer", "num_hidden_layers"}));
  dnn.heads = static_cast<int>(config.count({"n_head", "num_attention_heads"}));
  set_gpt_shape(dnn);
  dnn.ffn = config.optional_count({"n_inner"}).value_or(4 * dnn.hidden);
  dnn.vocabulary = config.count({"vocab_size"});
  dnn.position = Position::alibi;
  dnn.embedding_norm = true;
  dnn.activation = Activation::gelu;
  dnn.dropout = dropout_of(config, {"hidden_dropout", "attention_dropout"}, 0);
  dnn.tied_embedding = config.flag("tie_word_embeddings", true);
  config.ignore({"apply_residual_connection_post_layernorm"});
}

}  // namespace sim::scenario
