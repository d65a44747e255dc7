// Operators bound by memory on the GPU, bf16 with sums in fp32: what stands between the products of
// a transformer. All pointers are of the device.
//
// Bytes of an element are what the simulator counts for a fused kernel (sim/dnn/operator_list.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace kernels::cuda {

struct Bf16 {
  std::uint16_t bits;
};
struct Fp8 {  // e4m3
  std::uint8_t bits;
};
struct Rows {
  std::size_t count = 0, width = 0;  // width: a multiple of 8
  std::size_t elements() const { return count * width; }
};

// Arbitrary numbers between -2 and 2 whose bytes are finite as bf16, fp16, fp32 and fp8 alike.
void fill(void* memory, std::size_t bytes, cudaStream_t stream);
// Reads and writes 16 bytes at a time, on at most `blocks` blocks of 512 threads. REQUIRES: bytes
// is a multiple of 16.
void stream_copy(const void* from, void* to, std::size_t bytes, int blocks, cudaStream_t stream);
void empty(cudaStream_t stream);

// y = x / sqrt(mean of x^2 over a row + 1e-5) weight[width].
void rms_norm(Rows rows, const Bf16* x, const Bf16* weight, Bf16* y, cudaStream_t stream);
// y = (x - mean) / sqrt(variance + 1e-5) weight[width] + bias[width].
void layer_norm(Rows rows, const Bf16* x, const Bf16* weight, const Bf16* bias, Bf16* y,
                cudaStream_t stream);
// y = gate / (1 + exp(-gate)) up.
void swiglu(std::size_t count, const Bf16* gate, const Bf16* up, Bf16* y, cudaStream_t stream);
// y = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
void gelu(std::size_t count, const Bf16* x, Bf16* y, cudaStream_t stream);
// x += y.
void residual(std::size_t count, const Bf16* y, Bf16* x, cudaStream_t stream);
// Turns pairs (i, i + width / 2) of a row by angles whose cosines and sines stand in
// cosine[width / 2] and sine[width / 2], in place.
void rotary(Rows rows, const float* cosine, const float* sine, Bf16* x, cudaStream_t stream);
// loss[row] = log(sum exp(x)) - x[target]; `x` becomes the gradient of their mean.
void cross_entropy(Rows rows, const int* target, Bf16* x, float* loss, cudaStream_t stream);
// y[i] = table[index[i]], rows of `rows.width`.
void gather(Rows rows, const int* index, const Bf16* table, Bf16* y, cudaStream_t stream);
// table[index[i]] += gradient[i].
void scatter_add(Rows rows, const int* index, const Bf16* gradient, float* table,
                 cudaStream_t stream);

struct Adam {
  float rate = 1e-3F, beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
  int step = 1;  // counted from 1
};
// Kingma and Ba, ICLR 2015, algorithm 1, in fp32; `copy` is the weight that is computed with.
void adam(const Adam& settings, std::size_t count, const float* gradient, float* mean,
          float* square, float* weight, Bf16* copy, cudaStream_t stream);
void cast(std::size_t count, const float* x, Bf16* y, cudaStream_t stream);
// y = x scale, rounded to the nearest, limited to +-448.
void quantise(std::size_t count, const Bf16* x, float scale, Fp8* y, cudaStream_t stream);

// Bytes read and written for each element.
inline constexpr double rms_norm_bytes = 4, layer_norm_bytes = 4, swiglu_bytes = 6, gelu_bytes = 4,
                        residual_bytes = 6, rotary_bytes = 4, cross_entropy_bytes = 6,
                        gather_bytes = 4, scatter_bytes = 10, adam_bytes = 30, cast_bytes = 6,
                        quantise_bytes = 3, copy_bytes = 4;

}  // namespace kernels::cuda
