// The families of Hugging Face with a mixture of experts.
// Source: huggingface/transformers, src/transformers/models/*/configuration_*.py and modeling_*.py.
#include <fmt/format.h>

#include "sim/scenario/encoding.h"
#include "sim/scenario/hugging_face_families.h"

namespace sim::scenario {
namespace {

using dnn::AttentionSpan;
using dnn::Router;
using dnn::Transformer;
using Config = HuggingFaceConfig;

int small(std::int64_t number) { return static_cast<int>(number); }

void read_counts(Config& config, Transformer& dnn, std::initializer_list<const char*> of) {
  dnn.experts.count = small(config.count(of));
  dnn.experts.per_token = small(config.count({"num_experts_per_tok", "experts_per_token"}));
  config.ignore(
      {"output_router_logits", "router_aux_loss_coef", "router_jitter_noise", "norm_topk_prob"});
  if (dnn.experts.per_token > dnn.experts.count) {
    config.error(*config.find({"num_experts_per_tok", "experts_per_token"}),
                 fmt::format("a token is sent to {} of {} experts", dnn.experts.per_token,
                             dnn.experts.count));
  }
}

// Published quantized, trained wider: the sizes are the same.
void note_quantization(Config& config) {
  const Value* value = config.find({"quantization_config"});
  if (value == nullptr) return;
  config.warning(*value, "how the weights are quantized is not read",
                 "the precision of training is what the scenario says");
}

}  // namespace

void read_mixtral(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  read_counts(config, dnn, {"num_local_experts"});
  dnn.experts.ffn = dnn.ffn;
  if (config.find({"sliding_window"}) != nullptr) {
    read_pattern(config, dnn, AttentionSpan::sliding, "sliding_window", 0);
  }
}

void read_qwen3_moe(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.attention_bias = dnn.output_bias = config.flag("attention_bias", false);
  dnn.query_key_norm = true;
  if (dnn.head_size == 0) dnn.head_size = dnn.hidden / dnn.heads;
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  read_counts(config, dnn, {"num_experts", "num_local_experts"});
  dnn.experts.ffn = config.count({"moe_intermediate_size"});
  dnn.experts.period = small(config.optional_count({"decoder_sparse_step"}).value_or(1));
  config.require("use_sliding_window", "false", "windows that only some layers have");
  config.ignore({"sliding_window"});
}

// V2 and V3. Keys and values are projected up for every query head.
void read_deepseek(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.attention_bias = dnn.output_bias = config.flag("attention_bias", false);
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  dnn.kv_heads = dnn.heads;
  dnn.latent.query_rank = config.optional_count({"q_lora_rank"}).value_or(0);
  dnn.latent.key_value_rank = config.count({"kv_lora_rank"});
  dnn.latent.rotary_size = config.count({"qk_rope_head_dim"});
  dnn.latent.value_size = config.count({"v_head_dim"});
  dnn.head_size = config.count({"qk_nope_head_dim"}) + dnn.latent.rotary_size;
  read_counts(config, dnn, {"n_routed_experts", "num_local_experts"});
  dnn.experts.ffn = config.count({"moe_intermediate_size"});
  dnn.experts.shared_ffn =
      config.optional_count({"n_shared_experts"}).value_or(0) * dnn.experts.ffn;
  dnn.experts.dense_first = small(config.whole("first_k_dense_replace", 0));
  config.require("moe_layer_freq", "1", "experts in every n-th layer, counted from 0");
  dnn.prediction_modules = small(config.whole("num_nextn_predict_layers", 0));
  const Value* scores = config.find({"scoring_func"});
  if (scores != nullptr && scores->text == "sigmoid") dnn.experts.router = Router::sigmoid;
  const Value* method = config.find({"topk_method"});
  dnn.experts.router_bias = method != nullptr && method->text == "noaux_tc";
  config.ignore({"ep_size", "qk_head_dim", "n_group", "topk_group", "routed_scaling_factor",
                 "seq_aux", "aux_loss_alpha"});
  note_quantization(config);
}

// The norm of queries and keys has no gains. `intermediate_size` is an expert's width.
void read_llama4_text(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.attention_bias = dnn.output_bias = config.flag("attention_bias", false);
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  dnn.query_key_norm = config.flag("use_qk_norm", true);
  dnn.query_key_gain = false;
  read_counts(config, dnn, {"num_local_experts"});
  dnn.experts.ffn = dnn.experts.shared_ffn = dnn.ffn;
  dnn.ffn = config.count({"intermediate_size_mlp"});
  dnn.experts.period = small(config.optional_count({"interleave_moe_layer_step"}).value_or(1));
  dnn.experts.router = Router::sigmoid;
  const int period = small(config.optional_count({"no_rope_layer_interval"}).value_or(4));
  read_pattern(config, dnn, AttentionSpan::chunked, "attention_chunk_size", period);
  config.ignore({"moe_layers", "no_rope_layers", "attn_temperature_tuning", "floor_scale",
                 "attn_scale", "for_llm_compressor"});
}

void read_gpt_oss(Config& config, Transformer& dnn) {
  read_llama_sizes(config, dnn);
  dnn.activation = config.activation({"hidden_act"}, "silu");
  dnn.attention_bias = dnn.output_bias = config.flag("attention_bias", true);
  dnn.mlp_bias = true;
  dnn.attention_sinks = true;
  dnn.tied_embedding = config.flag("tie_word_embeddings", false);
  read_counts(config, dnn, {"num_local_experts"});
  dnn.experts.ffn = dnn.ffn;
  dnn.experts.router_bias = true;
  read_pattern(config, dnn, AttentionSpan::sliding, "sliding_window", 2);
  config.ignore({"initial_context_length", "swiglu_limit"});
  note_quantization(config);
}

}  // namespace sim::scenario
