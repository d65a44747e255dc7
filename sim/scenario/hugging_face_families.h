// What each family of Hugging Face means by its keys.
#pragma once

#include "sim/scenario/hugging_face_config.h"

namespace sim::scenario {

// Sizes that llama and its descendants name alike; not which layers see only a window.
void read_llama_sizes(HuggingFaceConfig& config, dnn::Transformer& dnn);
// Which layers see a window: all but those that layer_types names or, without it, every n-th.
void read_pattern(HuggingFaceConfig& config, dnn::Transformer& dnn, dnn::AttentionSpan span,
                  const char* width_key, int period_otherwise);

// Families of dense layers.
void read_bloom(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_gemma(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_gemma2(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_gemma3(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_gpt2(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_llama(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_mistral(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_opt(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_qwen2(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_qwen3(HuggingFaceConfig& config, dnn::Transformer& dnn);

// Families with a mixture of experts.
void read_mixtral(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_qwen3_moe(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_deepseek(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_llama4_text(HuggingFaceConfig& config, dnn::Transformer& dnn);
void read_gpt_oss(HuggingFaceConfig& config, dnn::Transformer& dnn);

}  // namespace sim::scenario
