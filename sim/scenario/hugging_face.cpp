// The dense decoder families of Hugging Face. A key that is not understood is an error, because it
// may change what is computed; where a family leaves a size out, its own rule fills it.
// Source: huggingface/transformers, src/transformers/models/*/configuration_*.py and modeling_*.py.
#include "sim/scenario/hugging_face.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/document.h"
#include "sim/scenario/encoding.h"
#include "sim/scenario/hugging_face_config.h"

namespace sim::scenario {
namespace {

using dnn::Activation;
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

void check_window(Config& config, bool is_used = true) {
  const Value* window = config.find({"sliding_window"});
  config.ignore({"sliding_window_pattern", "_sliding_window_pattern"});
  if (window == nullptr || !is_used) return;
  config.warning(*window,
                 fmt::format("an attention window of {} is not modelled", shown(window->text, 20)),
                 "longer sequences are counted with attention to all earlier tokens");
}

// Sizes that llama and its descendants name alike.
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
  check_layer_types(config);
  config.ignore({"max_position_embeddings"});
  config.require("partial_rotary_factor", "1.0", "rotary positions over a part of each head");
}

void read_llama(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.attention_bias = dnn.output_bias = config.flag("attention_bias", false);
  dnn.mlp_bias = config.flag("mlp_bias", false);
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
}

void read_mistral(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  check_window(config);
}

void read_qwen2(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.attention_bias = true;
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  check_window(config, config.flag("use_sliding_window", false));
}

void read_qwen3(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.attention_bias = dnn.output_bias = config.flag("attention_bias", false);
  dnn.query_key_norm = true;
  if (dnn.head_size == 0) dnn.head_size = 128;
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  check_window(config, config.flag("use_sliding_window", false));
}

// hidden_activation stands above hidden_act, which early files give wrongly as "gelu" or omit.
void read_gemma(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_activation", "hidden_act"}, "gelu_pytorch_tanh");
  if (dnn.head_size == 0) dnn.head_size = 256;
  dnn.attention_bias = dnn.output_bias = config.flag("attention_bias", false);
  dnn.tied_embedding = config.flag("tie_word_embeddings", true);
  config.require("use_bidirectional_attention", "false", "attention in both directions");
}

void read_gemma2(Config& config, Transformer& dnn) {
  read_gemma(config, dnn);
  dnn.sandwich_norm = true;
  check_window(config);
}

void read_gemma3(Config& config, Transformer& dnn) {
  read_gemma2(config, dnn);
  dnn.query_key_norm = true;
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

struct Family {
  const char* model_type;
  const char* architecture;  // with a language-model head
  void (*read)(Config&, Transformer&);
};
constexpr Family families[] = {{"bloom", "BloomForCausalLM", read_bloom},
                               {"gemma", "GemmaForCausalLM", read_gemma},
                               {"gemma2", "Gemma2ForCausalLM", read_gemma2},
                               {"gemma3_text", "Gemma3ForCausalLM", read_gemma3},
                               {"gpt2", "GPT2LMHeadModel", read_gpt2},
                               {"llama", "LlamaForCausalLM", read_llama},
                               {"mistral", "MistralForCausalLM", read_mistral},
                               {"opt", "OPTForCausalLM", read_opt},
                               {"qwen2", "Qwen2ForCausalLM", read_qwen2},
                               {"qwen3", "Qwen3ForCausalLM", read_qwen3}};

std::string supported() {
  std::vector<std::string> names;
  for (const Family& family : families) names.emplace_back(family.model_type);
  return fmt::format("supported model_type: {}", fmt::join(names, ", "));
}

// What the file calls itself: model_type, else the first architecture, else nothing.
const Value* identity(const Value& root) {
  const Value* type = root.find("model_type");
  if (type != nullptr && type->kind == Value::Kind::text) return type;
  const Value* list = root.find("architectures");
  if (list == nullptr || list->kind != Value::Kind::list || list->items.empty()) return nullptr;
  return list->items[0].kind == Value::Kind::text ? &list->items[0] : nullptr;
}

constexpr const char* dense_only =
    "only decoders of text whose layers are dense and all alike can be simulated";

const Family* family_of(const Value& root, Config& config) {
  const Value* name = identity(root);
  const std::string called = name == nullptr ? "" : shown(name->text);
  if (const auto unsupported = unsupported_feature(root)) {
    const std::string subject =
        name == nullptr ? "this dnn" : fmt::format("model_type '{}'", called);
    config.error(name == nullptr ? *unsupported->value : *name,
                 fmt::format("{} is not supported: it has {}", subject, unsupported->what),
                 dense_only, supported());
    return nullptr;
  }
  if (name == nullptr) {
    config.error(root, "the file says neither model_type nor architectures",
                 "they name what the sizes belong to", supported());
    return nullptr;
  }
  for (const Family& family : families) {
    if (name->text == family.model_type || name->text == family.architecture) return &family;
  }
  config.error(*name, fmt::format("model_type '{}' is not supported", called), dense_only,
               supported());
  return nullptr;
}

// A file of a family may still be for another task, with another head.
void check_architecture(const Value& root, const Family& family, Config& config) {
  const Value* list = root.find("architectures");
  if (list == nullptr || list->kind != Value::Kind::list) return;
  for (const Value& item : list->items) {
    if (item.text == family.architecture) return;
  }
  if (list->items.empty()) return;
  config.error(list->items[0],
               fmt::format("architecture '{}' is not supported", shown(list->items[0].text)),
               "its head is not one that predicts the next token",
               fmt::format("supported: {}", family.architecture));
}

void complete(const Value& root, Config& config, Transformer& dnn) {
  if (config.has_errors()) return;
  if (dnn.heads % dnn.kv_heads != 0) {
    config.error(*config.find({"num_key_value_heads"}),
                 fmt::format("{} attention heads are not a multiple of {} key and value heads",
                             dnn.heads, dnn.kv_heads));
  }
  if (dnn.head_size > 0) return;
  if (dnn.hidden % dnn.heads != 0) {
    config.error(root,
                 fmt::format("hidden size {} is not a multiple of {} heads", dnn.hidden, dnn.heads),
                 "a head has hidden / heads unless head_dim says otherwise");
  }
  dnn.head_size = dnn.hidden / dnn.heads;
}

// "Qwen3-8B.config.json" -> "Qwen3-8B"; "llama/config.json" -> "llama".
std::string name_of(const std::filesystem::path& file) {
  std::string name = file.stem().string();
  if (name == "config" && file.has_parent_path()) return file.parent_path().filename().string();
  const std::string ending = ".config";
  if (name.size() > ending.size() && name.ends_with(ending)) {
    name.resize(name.size() - ending.size());
  }
  return name;
}

std::size_t error_count(const Diagnostics& diagnostics) {
  std::size_t count = 0;
  for (const Diagnostic& one : diagnostics.sorted()) count += one.severity == Severity::error;
  return count;
}

// JSON as YAML reads it, but for tabs, which are space in JSON and never stand inside a string.
std::optional<Value> read_json(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const std::string name = file.generic_string();
  auto text = read_text(file, {name, 0, 0}, diagnostics);
  if (!text) return std::nullopt;
  if (text->starts_with("\xef\xbb\xbf")) text->erase(0, 3);
  std::replace(text->begin(), text->end(), '\t', ' ');
  diagnostics.add_source(name, *text);
  const std::size_t begin = text->find_first_not_of(" \r\n");
  if (begin == std::string::npos || (*text)[begin] != '{') {
    diagnostics.error({name, 1, 1}, "the file is not a JSON object",
                      "a config.json of Hugging Face begins with '{'");
    return std::nullopt;
  }
  return parse_document(name, *text, diagnostics);
}

}  // namespace

std::optional<Transformer> read_hugging_face(const std::filesystem::path& file,
                                             Diagnostics& diagnostics) {
  const std::size_t errors_before = error_count(diagnostics);
  const auto root = read_json(file, diagnostics);
  if (!root || error_count(diagnostics) > errors_before) return std::nullopt;
  Config config(*root, diagnostics);
  if (root->kind != Value::Kind::map) {
    config.error(*root, "the file is not a JSON object");
    return std::nullopt;
  }
  const Family* family = family_of(*root, config);
  if (family == nullptr) return std::nullopt;
  Transformer dnn;
  dnn.name = name_of(file);
  check_architecture(*root, *family, config);
  family->read(config, dnn);
  config.report_unknown_keys();
  complete(*root, config, dnn);
  if (config.has_errors()) return std::nullopt;
  return dnn;
}

}  // namespace sim::scenario
