// Typed access, and the keys that never change what is computed.
#include "sim/scenario/hugging_face_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/scenario/encoding.h"

namespace sim::scenario {
namespace {

constexpr std::int64_t count_max = 100'000'000;

// Tokenizer, generation, initialisation, storage, rotary constants: nothing that moves a size.
constexpr const char* harmless[] = {"_attn_implementation",
                                    "_attn_implementation_autoset",
                                    "_commit_hash",
                                    "_flash_attn_2_enabled",
                                    "_name_or_path",
                                    "_num_labels",
                                    "architectures",
                                    "attention_softmax_in_fp32",
                                    "attn_logit_softcapping",
                                    "auto_map",
                                    "bad_words_ids",
                                    "begin_suppress_tokens",
                                    "bias_dropout_fusion",
                                    "bos_token_id",
                                    "cache_implementation",
                                    "chunk_size_feed_forward",
                                    "decoder_start_token_id",
                                    "diversity_penalty",
                                    "do_sample",
                                    "dtype",
                                    "early_stopping",
                                    "embedding_initializer_range",
                                    "encoder_no_repeat_ngram_size",
                                    "eos_token_id",
                                    "exponential_decay_length_penalty",
                                    "final_logit_softcapping",
                                    "finetuning_task",
                                    "forced_bos_token_id",
                                    "forced_eos_token_id",
                                    "id2label",
                                    "init_device",
                                    "init_std",
                                    "initializer_range",
                                    "keys_to_ignore_at_inference",
                                    "label2id",
                                    "layer_norm_eps",
                                    "layer_norm_epsilon",
                                    "length_penalty",
                                    "license",
                                    "masked_softmax_fusion",
                                    "max_length",
                                    "max_window_layers",
                                    "min_length",
                                    "model_max_length",
                                    "model_type",
                                    "no_repeat_ngram_size",
                                    "num_beam_groups",
                                    "num_beams",
                                    "num_labels",
                                    "num_return_sequences",
                                    "offset_alibi",
                                    "output_attentions",
                                    "output_hidden_states",
                                    "output_past",
                                    "output_scores",
                                    "pad_token_id",
                                    "prefix",
                                    "pretraining_tp",
                                    "problem_type",
                                    "query_pre_attn_scalar",
                                    "remove_invalid_values",
                                    "reorder_and_upcast_attn",
                                    "repetition_penalty",
                                    "return_dict",
                                    "return_dict_in_generate",
                                    "rms_norm_eps",
                                    "rope_local_base_freq",
                                    "rope_parameters",
                                    "rope_scaling",
                                    "rope_theta",
                                    "scale_attn_by_inverse_layer_idx",
                                    "scale_attn_weights",
                                    "sep_token_id",
                                    "seq_length",
                                    "skip_bias_add",
                                    "skip_bias_add_qkv",
                                    "slow_but_exact",
                                    "summary_activation",
                                    "summary_first_dropout",
                                    "summary_proj_to_labels",
                                    "summary_type",
                                    "summary_use_proj",
                                    "suppress_tokens",
                                    "task_specific_params",
                                    "temperature",
                                    "tf_legacy_loss",
                                    "tie_encoder_decoder",
                                    "tokenizer_class",
                                    "top_k",
                                    "top_p",
                                    "torch_dtype",
                                    "torchscript",
                                    "transformers_version",
                                    "typical_p",
                                    "unk_token_id",
                                    "unsloth_fixed",
                                    "unsloth_version",
                                    "use_bfloat16",
                                    "use_cache"};

bool is_harmless(const std::string& key) {
  return std::find(std::begin(harmless), std::end(harmless), key) != std::end(harmless);
}

bool is_idle(const Value& value) {
  switch (value.kind) {
    case Value::Kind::nothing:
      return true;
    case Value::Kind::list:
      return value.items.empty();
    case Value::Kind::map:
      return value.entries.empty();
    case Value::Kind::text:
      return value.is_quoted ? value.text.empty() : value.text == "false" || value.text == "0";
  }
  return false;
}

}  // namespace

const Value* HuggingFaceConfig::find(std::initializer_list<const char*> keys) {
  const Value* found = nullptr;
  for (const char* key : keys) {
    understood_.insert(key);
    const Value* value = root_.find(key);
    if (found == nullptr && value != nullptr && value->kind != Value::Kind::nothing) found = value;
  }
  return found;
}

void HuggingFaceConfig::error(const Value& value, std::string message, std::string why,
                              std::string hint) {
  has_errors_ = true;
  diagnostics_.error(value.place(), std::move(message), std::move(why), std::move(hint));
}

void HuggingFaceConfig::warning(const Value& value, std::string message, std::string why) {
  diagnostics_.warning(value.place(), std::move(message), std::move(why));
}

std::optional<std::int64_t> HuggingFaceConfig::whole_number(const Value& value,
                                                            std::initializer_list<const char*> keys,
                                                            std::int64_t least) {
  // Named as it stands in the file.
  const std::string key = *std::find_if(keys.begin(), keys.end(),
                                        [&](const char* one) { return root_.find(one) == &value; });
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, status] = std::from_chars(value.text.data(), end, number);
  const bool is_number =
      value.kind == Value::Kind::text && !value.is_quoted && status == std::errc() && stop == end;
  if (!is_number) {
    error(value, fmt::format("{} for {} is not a whole number", described(value), key), "",
          value.is_quoted ? "write it without quotes" : "");
    return std::nullopt;
  }
  if (number < least || number > count_max) {
    error(value, fmt::format("{} is {}, but must be from {} to {}", key, number, least, count_max));
    return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> HuggingFaceConfig::optional_count(
    std::initializer_list<const char*> keys) {
  const Value* value = find(keys);
  return value == nullptr ? std::nullopt : whole_number(*value, keys);
}

std::int64_t HuggingFaceConfig::count(std::initializer_list<const char*> keys) {
  const Value* value = find(keys);
  if (value != nullptr) return whole_number(*value, keys).value_or(1);
  error(root_, fmt::format("missing key '{}'", *keys.begin()));
  return 1;
}

std::int64_t HuggingFaceConfig::whole(const char* key, std::int64_t otherwise) {
  const Value* value = find({key});
  return value == nullptr ? otherwise : whole_number(*value, {key}, 0).value_or(otherwise);
}

bool HuggingFaceConfig::flag(const char* key, bool otherwise) {
  const Value* value = find({key});
  if (value == nullptr) return otherwise;
  if (value->kind == Value::Kind::text && !value->is_quoted) {
    if (value->text == "true") return true;
    if (value->text == "false") return false;
  }
  error(*value, fmt::format("{} for {} is neither true nor false", described(*value), key));
  return otherwise;
}

double HuggingFaceConfig::share(const char* key, double otherwise) {
  const Value* value = find({key});
  if (value == nullptr) return otherwise;
  double number = 0;
  const char* end = value->text.data() + value->text.size();
  const auto [stop, status] = std::from_chars(value->text.data(), end, number);
  const bool is_share = value->kind == Value::Kind::text && !value->is_quoted &&
                        status == std::errc() && stop == end && number >= 0 && number < 1;
  if (!is_share) {
    error(*value, fmt::format("{} for {} is not a number from 0 to 1", described(*value), key));
    return otherwise;
  }
  return number;
}

dnn::Activation HuggingFaceConfig::activation(std::initializer_list<const char*> keys,
                                              const char* otherwise) {
  struct Word {
    const char* text;
    dnn::Activation meaning;
  };
  static constexpr Word words[] = {
      {"gelu", dnn::Activation::gelu},     {"gelu_fast", dnn::Activation::gelu},
      {"gelu_new", dnn::Activation::gelu}, {"gelu_pytorch_tanh", dnn::Activation::gelu},
      {"relu", dnn::Activation::relu},     {"silu", dnn::Activation::silu},
      {"swish", dnn::Activation::silu}};
  const Value* value = find(keys);
  const std::string text = value == nullptr ? otherwise : value->text;
  std::vector<std::string> known;
  for (const Word& word : words) {
    if (word.text == text) return word.meaning;
    known.emplace_back(word.text);
  }
  error(value == nullptr ? root_ : *value,
        fmt::format("unknown activation '{}' for {}", shown(text), *keys.begin()), "",
        fmt::format("known: {}", fmt::join(known, ", ")));
  return dnn::Activation::gelu;
}

void HuggingFaceConfig::ignore(std::initializer_list<const char*> keys) {
  understood_.insert(keys.begin(), keys.end());
}

void HuggingFaceConfig::require(const char* key, const char* wanted, const std::string& meaning) {
  const Value* value = find({key});
  if (value == nullptr || (value->kind == Value::Kind::text && value->text == wanted)) return;
  const bool is_zero = std::string(wanted) == "0" && value->text == "0.0";
  if (value->kind == Value::Kind::text && is_zero) return;
  error(*value, fmt::format("{} for {} is not supported", described(*value), key), meaning,
        fmt::format("supported: {}", wanted));
}

void HuggingFaceConfig::report_unknown_keys() {
  for (const Entry& entry : root_.entries) {
    if (understood_.contains(entry.key) || is_harmless(entry.key)) continue;
    if (is_idle(entry.value)) continue;
    has_errors_ = true;
    diagnostics_.error(entry.key_place(), fmt::format("unknown key '{}'", shown(entry.key)),
                       "it may change what is computed",
                       "if it does not, take it out of a copy of the file");
  }
}

}  // namespace sim::scenario
