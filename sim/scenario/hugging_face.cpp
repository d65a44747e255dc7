// Transformers from a config.json of Hugging Face: which family a file is of. A key that is not
// understood is an error, because it may change what is computed.
#include "sim/scenario/hugging_face.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/document.h"
#include "sim/scenario/encoding.h"
#include "sim/scenario/hugging_face_families.h"

namespace sim::scenario {
namespace {

using dnn::Transformer;
using Config = HuggingFaceConfig;

struct Family {
  const char* model_type;
  const char* architecture;  // with a language-model head
  void (*read)(Config&, Transformer&);
  std::vector<std::string> signs = {};  // of features that it is known to have
};

const std::vector<Family>& families() {
  static const std::vector<std::string> deepseek_signs{
      "kv_lora_rank",        "q_lora_rank",           "n_routed_experts",   "num_local_experts",
      "num_experts_per_tok", "moe_intermediate_size", "quantization_config"};
  static const std::vector<Family> all{
      {"bloom", "BloomForCausalLM", read_bloom},
      {"deepseek_v2", "DeepseekV2ForCausalLM", read_deepseek, deepseek_signs},
      {"deepseek_v3", "DeepseekV3ForCausalLM", read_deepseek, deepseek_signs},
      {"gemma", "GemmaForCausalLM", read_gemma},
      {"gemma2", "Gemma2ForCausalLM", read_gemma2},
      {"gemma3_text", "Gemma3ForCausalLM", read_gemma3},
      {"gpt2", "GPT2LMHeadModel", read_gpt2},
      {"gpt_oss",
       "GptOssForCausalLM",
       read_gpt_oss,
       {"num_local_experts", "num_experts_per_tok", "quantization_config"}},
      {"kimi_k2", "DeepseekV3ForCausalLM", read_deepseek, deepseek_signs},
      {"llama", "LlamaForCausalLM", read_llama},
      {"llama4_text",
       "Llama4ForCausalLM",
       read_llama4_text,
       {"num_local_experts", "num_experts_per_tok"}},
      {"mistral", "MistralForCausalLM", read_mistral},
      {"mixtral", "MixtralForCausalLM", read_mixtral, {"num_local_experts", "num_experts_per_tok"}},
      {"opt", "OPTForCausalLM", read_opt},
      {"qwen2", "Qwen2ForCausalLM", read_qwen2},
      {"qwen3", "Qwen3ForCausalLM", read_qwen3},
      {"qwen3_moe",
       "Qwen3MoeForCausalLM",
       read_qwen3_moe,
       {"num_experts", "num_local_experts", "num_experts_per_tok", "moe_intermediate_size"}}};
  return all;
}

std::string supported() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.emplace_back(family.model_type);
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

constexpr const char* text_only =
    "only decoders of text of known families are read: a wrong size would go unseen";

const Family* named_family(const Value* name) {
  if (name == nullptr) return nullptr;
  for (const Family& family : families()) {
    if (name->text == family.model_type || name->text == family.architecture) return &family;
  }
  return nullptr;
}

const Family* family_of(const Value& root, Config& config) {
  const Value* name = identity(root);
  const std::string called = name == nullptr ? "" : shown(name->text);
  const Family* family = named_family(name);
  const std::vector<std::string> signs =
      family == nullptr ? std::vector<std::string>() : family->signs;
  if (const auto unsupported = unsupported_feature(root, signs)) {
    const std::string subject =
        name == nullptr ? "this dnn" : fmt::format("model_type '{}'", called);
    config.error(name == nullptr ? *unsupported->value : *name,
                 fmt::format("{} is not supported: it has {}", subject, unsupported->what),
                 text_only, supported());
    return nullptr;
  }
  if (name == nullptr) {
    config.error(root, "the file says neither model_type nor architectures",
                 "they name what the sizes belong to", supported());
  } else if (family == nullptr) {
    config.error(*name, fmt::format("model_type '{}' is not supported", called), text_only,
                 supported());
  }
  return family;
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

// Llama 4 as published keeps its text part beside one for images.
const Value& text_part(const Value& root, Diagnostics& diagnostics) {
  const Value* type = root.find("model_type");
  const Value* text = root.find("text_config");
  if (type == nullptr || type->text != "llama4" || text == nullptr ||
      text->kind != Value::Kind::map) {
    return root;
  }
  if (const Value* images = root.find("vision_config")) {
    diagnostics.warning(images->place(), "the part for images is left out",
                        "only the decoder of text is read");
  }
  return *text;
}

}  // namespace

std::optional<Transformer> read_hugging_face(const std::filesystem::path& file,
                                             Diagnostics& diagnostics) {
  const std::size_t errors_before = error_count(diagnostics);
  const auto whole = read_json(file, diagnostics);
  if (!whole || error_count(diagnostics) > errors_before) return std::nullopt;
  const Value& root = text_part(*whole, diagnostics);
  Config config(root, diagnostics);
  if (root.kind != Value::Kind::map) {
    config.error(root, "the file is not a JSON object");
    return std::nullopt;
  }
  const Family* family = family_of(root, config);
  if (family == nullptr) return std::nullopt;
  Transformer dnn;
  dnn.name = name_of(file);
  check_architecture(root, *family, config);
  family->read(config, dnn);
  config.report_unknown_keys();
  complete(root, config, dnn);
  if (config.has_errors()) return std::nullopt;
  return dnn;
}

}  // namespace sim::scenario
