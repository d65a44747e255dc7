// Architectures that are recognised and cannot be simulated, by the keys that betray them.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/scenario/encoding.h"
#include "sim/scenario/hugging_face_config.h"

namespace sim::scenario {
namespace {

struct Sign {
  const char* key;
  const char* what;
};

// In this order: what makes a config most different comes first.
constexpr Sign signs[] = {
    {"vision_config", "a part for images"},
    {"audio_config", "a part for sound"},
    {"encoder_layers", "an encoder and a decoder"},
    {"is_encoder_decoder", "an encoder and a decoder"},
    {"type_vocab_size", "an encoder"},
    {"add_cross_attention", "a decoder with cross attention"},
    {"block_configs", "layers that differ from each other"},
    {"hybrid_override_pattern", "a mixture of state-space and attention layers"},
    {"ssm_state_size", "state-space layers"},
    {"state_size", "state-space layers"},
    {"linear_num_key_heads", "linear attention"},
    {"kv_lora_rank", "multi-head latent attention"},
    {"q_lora_rank", "multi-head latent attention"},
    {"num_local_experts", "a mixture of experts"},
    {"num_experts", "a mixture of experts"},
    {"n_routed_experts", "a mixture of experts"},
    {"num_experts_per_tok", "a mixture of experts"},
    {"moe_intermediate_size", "a mixture of experts"},
    {"text_config", "a dnn inside another"},
    {"quantization_config", "quantized weights"},
};

bool is_set(const Value& value) {
  if (value.kind == Value::Kind::nothing) return false;
  return value.kind != Value::Kind::text || value.is_quoted ||
         (value.text != "false" && value.text != "0");
}

}  // namespace

std::optional<Unsupported> unsupported_feature(const Value& root,
                                               const std::vector<std::string>& understood) {
  std::optional<Unsupported> result;
  std::string_view before;
  for (const Sign& sign : signs) {
    if (std::find(understood.begin(), understood.end(), sign.key) != understood.end()) continue;
    const Value* value = root.find(sign.key);
    if (value == nullptr || !is_set(*value) || sign.what == before) continue;
    before = sign.what;
    const std::string feature =
        value->kind == Value::Kind::text
            ? fmt::format("{} ({}: {})", sign.what, sign.key, shown(value->text, 40))
            : fmt::format("{} ({})", sign.what, sign.key);
    if (result) {
      result->what += ", " + feature;
    } else {
      result = Unsupported{value, feature};
    }
  }
  return result;
}

}  // namespace sim::scenario
