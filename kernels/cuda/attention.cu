// Attention without fusion: a block computes one row of scores in shared memory.
#include "kernels/cuda/attention.h"

namespace kernels::cuda {
namespace {

constexpr int threads = 128;

__device__ float number(Bf16 x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }

// Sum, or maximum, over the block through `parts`, which has a place for each thread.
template <class Combine>
__device__ float over_block(float value, float* parts, Combine combine) {
  __syncthreads();
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (static_cast<int>(threadIdx.x) < step) {
      parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + step]);
    }
    __syncthreads();
  }
  return parts[0];
}

// Where the rows of one query are.
struct Row {
  int query, keys;         // keys that it sees
  std::size_t own, first;  // element of its query, of the first key
  float scale;
};

__device__ Row row_of(const AttentionShape& shape) {
  const int row = static_cast<int>(blockIdx.x);
  const int query = row % shape.length, head = row / shape.length % shape.heads,
            sequence = row / shape.length / shape.heads;
  const int kv_head = head / (shape.heads / shape.kv_heads);
  const auto size = static_cast<std::size_t>(shape.head_size);
  return {query, shape.causal ? query + 1 : shape.length, static_cast<std::size_t>(row) * size,
          (static_cast<std::size_t>(sequence) * shape.kv_heads + kv_head) * shape.length * size,
          rsqrtf(static_cast<float>(shape.head_size))};
}

// Shares of the keys into `shares`.
__device__ void softmax_row(const AttentionShape& shape, const Row& row, const Bf16* query,
                            const Bf16* key, float* shares, float* parts) {
  float most = -3e38F;
  for (int j = static_cast<int>(threadIdx.x); j < row.keys; j += threads) {
    const Bf16* other = key + row.first + static_cast<std::size_t>(j) * shape.head_size;
    float dot = 0;
    for (int d = 0; d < shape.head_size; ++d) dot += number(query[row.own + d]) * number(other[d]);
    shares[j] = dot * row.scale;
    most = fmaxf(most, shares[j]);
  }
  most = over_block(most, parts, [](float a, float b) { return fmaxf(a, b); });
  float total = 0;
  for (int j = static_cast<int>(threadIdx.x); j < row.keys; j += threads) {
    shares[j] = expf(shares[j] - most);
    total += shares[j];
  }
  total = over_block(total, parts, [](float a, float b) { return a + b; });
  for (int j = static_cast<int>(threadIdx.x); j < row.keys; j += threads) shares[j] /= total;
  __syncthreads();
}

__global__ void forward_kernel(AttentionShape shape, const Bf16* query, const Bf16* key,
                               const Bf16* value, float* output) {
  extern __shared__ float shares[];
  __shared__ float parts[threads];
  const Row row = row_of(shape);
  softmax_row(shape, row, query, key, shares, parts);
  for (int d = static_cast<int>(threadIdx.x); d < shape.head_size; d += threads) {
    float total = 0;
    for (int j = 0; j < row.keys; ++j) {
      total +=
          shares[j] * number(value[row.first + static_cast<std::size_t>(j) * shape.head_size + d]);
    }
    output[row.own + d] = total;
  }
}

// With P the shares, dP_j = dO . V_j and D = dO . O:
//   dV_j += P_j dO,  dS_j = P_j (dP_j - D) scale,  dQ = sum dS_j K_j,  dK_j += dS_j Q
__global__ void backward_kernel(AttentionShape shape, const Bf16* query, const Bf16* key,
                                const Bf16* value, const float* output, const Bf16* output_gradient,
                                float* query_gradient, float* key_gradient, float* value_gradient) {
  extern __shared__ float shares[];
  __shared__ float parts[threads];
  const Row row = row_of(shape);
  softmax_row(shape, row, query, key, shares, parts);
  float here = 0;
  for (int d = static_cast<int>(threadIdx.x); d < shape.head_size; d += threads) {
    here += number(output_gradient[row.own + d]) * output[row.own + d];
  }
  const float dot = over_block(here, parts, [](float a, float b) { return a + b; });
  for (int j = static_cast<int>(threadIdx.x); j < row.keys; j += threads) {
    const std::size_t at = row.first + static_cast<std::size_t>(j) * shape.head_size;
    float share_gradient = 0;
    for (int d = 0; d < shape.head_size; ++d) {
      const float gradient = number(output_gradient[row.own + d]);
      share_gradient += gradient * number(value[at + d]);
      atomicAdd(value_gradient + at + d, shares[j] * gradient);
    }
    const float score_gradient = shares[j] * (share_gradient - dot) * row.scale;
    for (int d = 0; d < shape.head_size; ++d) {
      atomicAdd(key_gradient + at + d, score_gradient * number(query[row.own + d]));
    }
    shares[j] = score_gradient;
  }
  __syncthreads();
  for (int d = static_cast<int>(threadIdx.x); d < shape.head_size; d += threads) {
    float total = 0;
    for (int j = 0; j < row.keys; ++j) {
      total +=
          shares[j] * number(key[row.first + static_cast<std::size_t>(j) * shape.head_size + d]);
    }
    query_gradient[row.own + d] = total;
  }
}

int rows_of(const AttentionShape& shape) { return shape.sequences * shape.heads * shape.length; }
std::size_t shared_bytes(const AttentionShape& shape) {
  return static_cast<std::size_t>(shape.length) * sizeof(float);
}

}  // namespace

void attention_forward(const AttentionShape& shape, const Bf16* query, const Bf16* key,
                       const Bf16* value, float* output, cudaStream_t stream) {
  forward_kernel<<<rows_of(shape), threads, shared_bytes(shape), stream>>>(shape, query, key, value,
                                                                           output);
}

void attention_backward(const AttentionShape& shape, const Bf16* query, const Bf16* key,
                        const Bf16* value, const float* output, const Bf16* output_gradient,
                        float* query_gradient, float* key_gradient, float* value_gradient,
                        cudaStream_t stream) {
  backward_kernel<<<rows_of(shape), threads, shared_bytes(shape), stream>>>(
      shape, query, key, value, output, output_gradient, query_gradient, key_gradient,
      value_gradient);
}

}  // namespace kernels::cuda
