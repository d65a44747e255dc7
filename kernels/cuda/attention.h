// Attention as its definition reads, on the GPU: what fused kernels are checked against. It is far
// slower than any of them, and nothing is timed or predicted with it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/cuda/pointwise.h"

namespace kernels::cuda {

// Rows of a sequence and head stand one after another: query[sequences][heads][length][head_size],
// key and value[sequences][kv_heads][length][head_size].
struct AttentionShape {
  int sequences = 1, heads = 1, kv_heads = 1, length = 0, head_size = 128;
  bool causal = true;
  std::size_t query_elements() const {
    return static_cast<std::size_t>(sequences) * static_cast<std::size_t>(heads) *
           static_cast<std::size_t>(length) * static_cast<std::size_t>(head_size);
  }
  std::size_t key_elements() const {
    return query_elements() / static_cast<std::size_t>(heads) * static_cast<std::size_t>(kv_heads);
  }
};

// REQUIRES: length at most 8192, head_size at most 256, kv_heads divides heads.
// output = softmax(query key^T / sqrt(head_size)) value.
void attention_forward(const AttentionShape& shape, const Bf16* query, const Bf16* key,
                       const Bf16* value, float* output, cudaStream_t stream);
// Adds to the gradients of key and value, which begin at zero; writes that of query.
void attention_backward(const AttentionShape& shape, const Bf16* query, const Bf16* key,
                        const Bf16* value, const float* output, const Bf16* output_gradient,
                        float* query_gradient, float* key_gradient, float* value_gradient,
                        cudaStream_t stream);

}  // namespace kernels::cuda
