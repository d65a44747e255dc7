// Reading config.json of families with a mixture of experts.
#include "tests/sim/scenario/hugging_face_reading.h"

namespace sim::scenario {
namespace {

dnn::Transformer transformer_of(const std::string& text) {
  const HuggingFaceReading reading = read_config(text);
  CAPTURE(reading.text);
  REQUIRE(reading.dnn);
  return *reading.dnn;
}

const std::string lite_text = R"({"model_type": "deepseek_v2",
  "architectures": ["DeepseekV2ForCausalLM"], "hidden_size": 2048, "intermediate_size": 10944,
  "num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16,
  "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
  "v_head_dim": 128, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6,
  "moe_intermediate_size": 1408, "first_k_dense_replace": 1, "moe_layer_freq": 1,
  "scoring_func": "softmax", "topk_method": "greedy", "n_group": 1, "topk_group": 1,
  "routed_scaling_factor": 1.0, "norm_topk_prob": false, "aux_loss_alpha": 0.001, "seq_aux": true,
  "vocab_size": 102400})";

// Scout as published, without the part for images.
const std::string scout_text = R"("attention_bias": false, "attention_chunk_size": 8192,
  "attn_scale": 0.1, "attn_temperature_tuning": true, "floor_scale": 8192, "head_dim": 128,
  "hidden_act": "silu", "hidden_size": 5120, "interleave_moe_layer_step": 1,
  "intermediate_size": 8192, "intermediate_size_mlp": 16384, "model_type": "llama4_text",
  "moe_layers": [0, 1, 2], "no_rope_layers": [1, 1, 1, 0], "num_attention_heads": 40,
  "num_experts_per_tok": 1, "num_hidden_layers": 48, "num_key_value_heads": 8,
  "num_local_experts": 16, "output_router_logits": false, "router_aux_loss_coef": 0.001,
  "router_jitter_noise": 0.0, "use_qk_norm": true, "vocab_size": 202048)";

const std::string oss_text = R"({"model_type": "gpt_oss", "architectures": ["GptOssForCausalLM"],
  "attention_bias": true, "experts_per_token": 4, "head_dim": 64, "hidden_size": 2880,
  "initial_context_length": 4096, "intermediate_size": 2880, "num_attention_heads": 64,
  "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 8,
  "num_local_experts": 32, "sliding_window": 128, "swiglu_limit": 7.0,
  "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
  "vocab_size": 201088})";

}  // namespace

// Totals as published: 15.7, 107.8 (text) and 20.9 billion.
TEST_CASE("Hugging Face, experts: totals of each family") {
  CHECK(dnn::total_parameters(transformer_of(lite_text)) == 15'706'484'224);
  CHECK(dnn::total_parameters(transformer_of("{" + scout_text + "}")) == 107'769'861'120);
  CHECK(dnn::total_parameters(transformer_of(oss_text)) == 20'914'757'184);
  CHECK(dnn::total_parameters(transformer_of(
            R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
                "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
                "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000,
                "sliding_window": null})")) == 46'702'792'704);
  CHECK(dnn::total_parameters(transformer_of(
            R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144,
                "moe_intermediate_size": 768, "num_hidden_layers": 48, "num_attention_heads": 32,
                "num_key_value_heads": 4, "head_dim": 128, "num_experts": 128,
                "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
                "vocab_size": 151936})")) == 30'532'122'624);
}

TEST_CASE("Hugging Face, experts: latent attention and dense layers of DeepSeek") {
  const dnn::Transformer lite = transformer_of(lite_text);
  CHECK(lite.head_size == 192);
  CHECK(lite.latent.query_rank == 0);
  CHECK(lite.latent.value_size == 128);
  CHECK(lite.experts.shared_ffn == 2816);
  CHECK(lite.experts.dense_first == 1);
  CHECK(lite.experts.router == dnn::Router::softmax);
  CHECK_FALSE(lite.experts.router_bias);
  CHECK(lite.prediction_modules == 0);
}

TEST_CASE("Hugging Face, experts: chunks and windows") {
  const dnn::Transformer scout = transformer_of("{" + scout_text + "}");
  CHECK(scout.span == dnn::AttentionSpan::chunked);
  CHECK(scout.window == 8192);
  CHECK(scout.full_period == 4);
  CHECK(scout.experts.ffn == 8192);
  CHECK(scout.ffn == 16384);
  const dnn::Transformer oss = transformer_of(oss_text);
  CHECK(oss.span == dnn::AttentionSpan::sliding);
  CHECK(oss.window == 128);
  CHECK(oss.full_period == 2);
  CHECK(oss.attention_sinks);
}

TEST_CASE("Hugging Face, experts: the text beside a part for images") {
  const HuggingFaceReading reading = read_config(
      R"({"model_type": "llama4", "architectures": ["Llama4ForConditionalGeneration"],
          "vision_config": {"hidden_size": 1408}, "text_config": {)" +
      scout_text + "}}");
  CAPTURE(reading.text);
  REQUIRE(reading.dnn);
  CHECK(dnn::total_parameters(*reading.dnn) == 107'769'861'120);
  REQUIRE(reading.list.size() == 1);
  CHECK(reading.list[0].severity == Severity::warning);
  CHECK(reading.list[0].message == "the part for images is left out");
}

TEST_CASE("Hugging Face, experts: what is refused") {
  const auto message = [](std::string text, const std::string& what, const std::string& with) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    const HuggingFaceReading reading = read_config(text.replace(at, what.size(), with));
    CHECK_FALSE(reading.dnn);
    REQUIRE(!reading.list.empty());
    return reading.list[0].message;
  };
  CHECK(message(lite_text, "\"num_experts_per_tok\": 6", "\"num_experts_per_tok\": 65") ==
        "a token is sent to 65 of 64 experts");
  CHECK(message(lite_text, "\"moe_layer_freq\": 1", "\"moe_layer_freq\": 2") ==
        "'2' for moe_layer_freq is not supported");
  CHECK(message(oss_text, "\"sliding_attention\", \"full_attention\"]",
                "\"full_attention\", \"full_attention\"]") ==
        "layer 2 of type 'full_attention' breaks the pattern of the layers before it");
  CHECK(message(oss_text, "\"vocab_size\"", "\"vision_config\": {\"a\": 1}, \"vocab_size\"") ==
        "model_type 'gpt_oss' is not supported: it has a part for images (vision_config)");
}

}  // namespace sim::scenario
