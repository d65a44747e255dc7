// Time of a fused causal attention forward pass from its thread blocks.
//
// One block holds 128 queries of one head; `pairs` is computed query-key pairs per head.
//   x    = sequences heads ceil(queries / 128) / SM
//   w    = max(x, 1) + quantisation (ceil(x) - max(x, 1))
//   mean = 4 d pairs / ceil(queries / 128) SM / (P compute)     a block's average work
//   long = 4 d 128 keys SM / (P compute)                        the longest block, which ends last
//   mem  = bytes / (B memory)
//   T = launch + fourth_root((w (block + mean))^4 + (block + long)^4 + mem^4)
// Fitted per device, kernel and head size.
#pragma once

#include <algorithm>
#include <cmath>

namespace calibrate::profile {

struct AttentionShape {
  double sequences = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, head_size = 128;
  double pairs = 0;  // per head
  double bytes = 0;
  double flops() const { return 4 * sequences * heads * pairs * head_size; }
};

template <class T>
struct AttentionTile {
  T launch{};        // [s]
  T block{};         // [s] start and end of a block
  T compute{};       // share of peak
  T quantisation{};  // of waves
  T memory{};        // share of the memory rate
};

template <class T>
T attention_time(const AttentionTile<T>& p, double peak, double memory_rate, double multiprocessors,
                 const AttentionShape& shape) {
  using std::sqrt;
  const double blocks = std::ceil(shape.queries / 128);
  const double x = shape.sequences * shape.heads * blocks / multiprocessors;
  const double least = std::max(x, 1.0);
  const T waves = least + p.quantisation * (std::ceil(x) - least);
  const T speed = peak * p.compute / multiprocessors;
  const T mean = 4 * shape.head_size * shape.pairs / blocks / speed;
  const T longest =
      p.block + 4 * shape.head_size * std::min(128.0, shape.queries) * shape.keys / speed;
  const T busy = waves * (p.block + mean);
  const T memory = shape.bytes / (memory_rate * p.memory);
  const T busy2 = busy * busy, longest2 = longest * longest, memory2 = memory * memory;
  return p.launch + sqrt(sqrt(busy2 * busy2 + longest2 * longest2 + memory2 * memory2));
}

}  // namespace calibrate::profile
