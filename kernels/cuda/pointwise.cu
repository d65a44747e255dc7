// Operators bound by memory: eight elements a thread and step, one block a row where rows count.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <algorithm>

#include "kernels/cuda/pointwise.h"

namespace kernels::cuda {
namespace {

constexpr int threads = 256, lanes = 8, warp = 32;
constexpr float norm_epsilon = 1e-5F;

int blocks_for(std::size_t work) {
  constexpr std::size_t most = 65535;  // the rest by striding
  return static_cast<int>(std::clamp<std::size_t>((work + threads - 1) / threads, 1, most));
}

__device__ float number(Bf16 x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }
__device__ Bf16 rounded(float x) { return {__bfloat16_as_ushort(__float2bfloat16_rn(x))}; }

struct alignas(16) Eight {
  Bf16 value[lanes];
};
struct alignas(8) EightFp8 {
  Fp8 value[lanes];
};

// The sum, or maximum, of a value over the block, known to all threads.
template <class Combine>
__device__ float over_block(float value, float neutral, Combine combine) {
  __shared__ float parts[warp];
  __shared__ float whole;
  for (int step = warp / 2; step > 0; step /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffU, value, step));
  }
  __syncthreads();
  if (threadIdx.x % warp == 0) parts[threadIdx.x / warp] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = neutral;
    for (int i = 0; i < static_cast<int>(blockDim.x) / warp; ++i) all = combine(all, parts[i]);
    whole = all;
  }
  __syncthreads();
  return whole;
}
__device__ float sum(float value) {
  return over_block(value, 0.0F, [](float a, float b) { return a + b; });
}
__device__ float largest(float value) {
  return over_block(value, -3e38F, [](float a, float b) { return fmaxf(a, b); });
}

// y[i] = function(i), eight at a time; the last ones, where count is no multiple, one by one.
template <class EightOf, class OneOf>
__global__ void each(std::size_t count, EightOf eight, OneOf one) {
  const std::size_t first = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  const std::size_t stride = gridDim.x * static_cast<std::size_t>(blockDim.x);
  for (std::size_t i = first; i < count / lanes; i += stride) eight(i);
  for (std::size_t i = count / lanes * lanes + first; i < count; i += stride) one(i);
}

// Two inputs and one output of bf16; unary functions leave the second alone.
template <bool reads_second, class Function>
void map(std::size_t count, const Bf16* a, const Bf16* b, Bf16* y, Function function,
         cudaStream_t stream) {
  const auto* a8 = reinterpret_cast<const Eight*>(a);
  const auto* b8 = reinterpret_cast<const Eight*>(b);
  auto* y8 = reinterpret_cast<Eight*>(y);
  each<<<blocks_for(count / lanes), threads, 0, stream>>>(
      count,
      [=] __device__(std::size_t i) {
        const Eight x = a8[i];
        Eight second = {}, result;
        if (reads_second) second = b8[i];
        for (int l = 0; l < lanes; ++l) {
          result.value[l] = rounded(function(number(x.value[l]), number(second.value[l])));
        }
        y8[i] = result;
      },
      [=] __device__(std::size_t i) {
        y[i] = rounded(function(number(a[i]), reads_second ? number(b[i]) : 0.0F));
      });
}

__global__ void fill_kernel(std::uint32_t* memory, std::size_t count) {
  const std::size_t stride = gridDim.x * static_cast<std::size_t>(blockDim.x);
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    auto x = static_cast<std::uint32_t>(i * 2654435761U + (i >> 32U));
    x ^= x >> 16U;
    x *= 0x7feb352dU;
    x ^= x >> 15U;
    x *= 0x846ca68bU;
    x ^= x >> 16U;
    // Of each half: sign, exponent of 0.5 to 2, mantissa; no byte is 0x7f or 0xff, NaN in fp8.
    memory[i] = (x & 0x80bf80bfU) | 0x3f003f00U;
  }
}

__global__ void copy_kernel(const uint4* from, uint4* to, std::size_t count) {
  const std::size_t stride = gridDim.x * static_cast<std::size_t>(blockDim.x);
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    to[i] = from[i];
  }
}

__global__ void empty_kernel() {}

template <bool subtracts_mean>
__global__ void norm_kernel(std::size_t width, const Bf16* x, const Bf16* weight, const Bf16* bias,
                            Bf16* y) {
  const auto* in = reinterpret_cast<const Eight*>(x + blockIdx.x * width);
  auto* out = reinterpret_cast<Eight*>(y + blockIdx.x * width);
  const auto* scale = reinterpret_cast<const Eight*>(weight);
  const auto* shift = reinterpret_cast<const Eight*>(bias);
  const auto size = static_cast<float>(width);
  float total = 0, square = 0;
  for (std::size_t i = threadIdx.x; i < width / lanes; i += blockDim.x) {
    const Eight part = in[i];
    for (int l = 0; l < lanes; ++l) {
      const float value = number(part.value[l]);
      total += value;
      square += value * value;
    }
  }
  const float mean = subtracts_mean ? sum(total) / size : 0;
  const float root = rsqrtf(fmaxf(sum(square) / size - mean * mean, 0.0F) + norm_epsilon);
  for (std::size_t i = threadIdx.x; i < width / lanes; i += blockDim.x) {
    const Eight part = in[i], factor = scale[i];
    Eight offset = {}, result;
    if (subtracts_mean) offset = shift[i];
    for (int l = 0; l < lanes; ++l) {
      const float value = (number(part.value[l]) - mean) * root * number(factor.value[l]);
      result.value[l] = rounded(subtracts_mean ? value + number(offset.value[l]) : value);
    }
    out[i] = result;
  }
}

__global__ void rotary_kernel(Rows rows, const float* cosine, const float* sine, Bf16* x) {
  const std::size_t half = rows.width / 2, count = rows.count * half;
  const std::size_t stride = gridDim.x * static_cast<std::size_t>(blockDim.x);
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    const std::size_t pair = i % half;
    Bf16* first = x + i / half * rows.width + pair;
    const float a = number(first[0]), b = number(first[half]);
    first[0] = rounded(a * cosine[pair] - b * sine[pair]);
    first[half] = rounded(a * sine[pair] + b * cosine[pair]);
  }
}

__global__ void cross_entropy_kernel(Rows rows, const int* target, Bf16* x, float* loss) {
  auto* row = reinterpret_cast<Eight*>(x + blockIdx.x * rows.width);
  // Maximum and sum in one pass: the sum so far shrinks whenever the maximum grows.
  float most = -3e38F, total = 0;
  for (std::size_t i = threadIdx.x; i < rows.width / lanes; i += blockDim.x) {
    const Eight part = row[i];
    float here = most;
    for (int l = 0; l < lanes; ++l) here = fmaxf(here, number(part.value[l]));
    total *= __expf(most - here);
    for (int l = 0; l < lanes; ++l) total += __expf(number(part.value[l]) - here);
    most = here;
  }
  const float top = largest(most);
  const float all = sum(total * __expf(most - top));
  const auto wanted = static_cast<std::size_t>(target[blockIdx.x]);
  if (threadIdx.x == 0) {
    loss[blockIdx.x] = logf(all) + top - number(x[blockIdx.x * rows.width + wanted]);
  }
  __syncthreads();  // the target is read before it is overwritten
  const float share = 1 / static_cast<float>(rows.count), scale = share / all;
  for (std::size_t i = threadIdx.x; i < rows.width / lanes; i += blockDim.x) {
    Eight part = row[i];
    for (int l = 0; l < lanes; ++l) {
      const float value = __expf(number(part.value[l]) - top) * scale;
      part.value[l] =
          rounded(i * lanes + static_cast<std::size_t>(l) == wanted ? value - share : value);
    }
    row[i] = part;
  }
}

__global__ void gather_kernel(std::size_t width, const int* index, const Bf16* table, Bf16* y) {
  const auto* from =
      reinterpret_cast<const Eight*>(table + static_cast<std::size_t>(index[blockIdx.x]) * width);
  auto* to = reinterpret_cast<Eight*>(y + blockIdx.x * width);
  for (std::size_t i = threadIdx.x; i < width / lanes; i += blockDim.x) to[i] = from[i];
}

__global__ void scatter_kernel(std::size_t width, const int* index, const Bf16* gradient,
                               float* table) {
  const Bf16* from = gradient + blockIdx.x * width;
  float* to = table + static_cast<std::size_t>(index[blockIdx.x]) * width;
  for (std::size_t i = threadIdx.x; i < width; i += blockDim.x) atomicAdd(to + i, number(from[i]));
}

__global__ void adam_kernel(Adam settings, float first, float second, std::size_t count,
                            const float* gradient, float* mean, float* square, float* weight,
                            Bf16* copy) {
  const std::size_t stride = gridDim.x * static_cast<std::size_t>(blockDim.x);
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    const float g = gradient[i];
    const float m = settings.beta1 * mean[i] + (1 - settings.beta1) * g;
    const float v = settings.beta2 * square[i] + (1 - settings.beta2) * g * g;
    const float w =
        weight[i] - settings.rate * (m * first) / (sqrtf(v * second) + settings.epsilon);
    mean[i] = m;
    square[i] = v;
    weight[i] = w;
    copy[i] = rounded(w);
  }
}

__global__ void cast_kernel(std::size_t count, const float* x, Bf16* y) {
  const std::size_t stride = gridDim.x * static_cast<std::size_t>(blockDim.x);
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    y[i] = rounded(x[i]);
  }
}

__device__ Fp8 to_fp8(float x) { return {__nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3)}; }

}  // namespace

void fill(void* memory, std::size_t bytes, cudaStream_t stream) {
  const std::size_t words = bytes / sizeof(std::uint32_t);
  fill_kernel<<<blocks_for(words), threads, 0, stream>>>(static_cast<std::uint32_t*>(memory),
                                                         words);
}

void stream_copy(const void* from, void* to, std::size_t bytes, int blocks, cudaStream_t stream) {
  constexpr int wide = 512;
  copy_kernel<<<blocks, wide, 0, stream>>>(static_cast<const uint4*>(from), static_cast<uint4*>(to),
                                           bytes / sizeof(uint4));
}

void empty(cudaStream_t stream) { empty_kernel<<<1, 1, 0, stream>>>(); }

void rms_norm(Rows rows, const Bf16* x, const Bf16* weight, Bf16* y, cudaStream_t stream) {
  norm_kernel<false>
      <<<static_cast<int>(rows.count), threads, 0, stream>>>(rows.width, x, weight, nullptr, y);
}

void layer_norm(Rows rows, const Bf16* x, const Bf16* weight, const Bf16* bias, Bf16* y,
                cudaStream_t stream) {
  norm_kernel<true>
      <<<static_cast<int>(rows.count), threads, 0, stream>>>(rows.width, x, weight, bias, y);
}

void swiglu(std::size_t count, const Bf16* gate, const Bf16* up, Bf16* y, cudaStream_t stream) {
  map<true>(
      count, gate, up, y, [] __device__(float g, float u) { return g / (1 + __expf(-g)) * u; },
      stream);
}

void gelu(std::size_t count, const Bf16* x, Bf16* y, cudaStream_t stream) {
  map<false>(
      count, x, nullptr, y,
      [] __device__(float v, float) {
        constexpr float root = 0.7978845608F, cubic = 0.044715F;  // sqrt(2 / pi)
        return 0.5F * v * (1 + tanhf(root * (v + cubic * v * v * v)));
      },
      stream);
}

void residual(std::size_t count, const Bf16* y, Bf16* x, cudaStream_t stream) {
  map<true>(
      count, y, x, x, [] __device__(float a, float b) { return a + b; }, stream);
}

void rotary(Rows rows, const float* cosine, const float* sine, Bf16* x, cudaStream_t stream) {
  rotary_kernel<<<blocks_for(rows.elements() / 2), threads, 0, stream>>>(rows, cosine, sine, x);
}

void cross_entropy(Rows rows, const int* target, Bf16* x, float* loss, cudaStream_t stream) {
  constexpr int wide = 1024;
  cross_entropy_kernel<<<static_cast<int>(rows.count), wide, 0, stream>>>(rows, target, x, loss);
}

void gather(Rows rows, const int* index, const Bf16* table, Bf16* y, cudaStream_t stream) {
  gather_kernel<<<static_cast<int>(rows.count), threads, 0, stream>>>(rows.width, index, table, y);
}

void scatter_add(Rows rows, const int* index, const Bf16* gradient, float* table,
                 cudaStream_t stream) {
  scatter_kernel<<<static_cast<int>(rows.count), threads, 0, stream>>>(rows.width, index, gradient,
                                                                       table);
}

void adam(const Adam& settings, std::size_t count, const float* gradient, float* mean,
          float* square, float* weight, Bf16* copy, cudaStream_t stream) {
  const auto step = static_cast<float>(settings.step);
  adam_kernel<<<blocks_for(count), threads, 0, stream>>>(
      settings, 1 / (1 - powf(settings.beta1, step)), 1 / (1 - powf(settings.beta2, step)), count,
      gradient, mean, square, weight, copy);
}

void cast(std::size_t count, const float* x, Bf16* y, cudaStream_t stream) {
  cast_kernel<<<blocks_for(count), threads, 0, stream>>>(count, x, y);
}

void quantise(std::size_t count, const Bf16* x, float scale, Fp8* y, cudaStream_t stream) {
  const auto* x8 = reinterpret_cast<const Eight*>(x);
  auto* y8 = reinterpret_cast<EightFp8*>(y);
  each<<<blocks_for(count / lanes), threads, 0, stream>>>(
      count,
      [=] __device__(std::size_t i) {
        const Eight part = x8[i];
        EightFp8 result;
        for (int l = 0; l < lanes; ++l) result.value[l] = to_fp8(number(part.value[l]) * scale);
        y8[i] = result;
      },
      [=] __device__(std::size_t i) { y[i] = to_fp8(number(x[i]) * scale); });
}

}  // namespace kernels::cuda
