// FLOPs and least bytes of an operator.
#include "calibrate/profile/roofline.h"

#include <algorithm>
#include <array>

namespace calibrate::profile {

double bytes_per_element(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32:
      return 4;
    case Precision::fp16:
    case Precision::bf16:
      return 2;
    case Precision::fp8:
      return 1;
  }
  return 4;
}

FlopsPerSecond peak(const DeviceType& device, Precision precision) {
  using enum Precision;
  using Order = std::array<Precision, 4>;
  constexpr std::array<Order, 5> orders{
      Order{fp32, fp32, fp32, fp32}, Order{tf32, fp32, fp32, fp32}, Order{fp16, bf16, tf32, fp32},
      Order{bf16, fp16, tf32, fp32}, Order{fp8, bf16, fp16, tf32}};
  for (const Precision candidate : orders.at(static_cast<std::size_t>(precision))) {
    const auto found = device.peak.find(candidate);
    if (found != device.peak.end()) return found->second;
  }
  FlopsPerSecond best;
  for (const auto& [type, rate] : device.peak) best = std::max(best, rate);
  return best;
}

double gemm_flops(const GemmQuestion& q) {
  return 2.0 * static_cast<double>(q.m) * static_cast<double>(q.n) * static_cast<double>(q.k) *
         static_cast<double>(q.batch);
}

double gemm_bytes(const GemmQuestion& q) {
  const auto m = static_cast<double>(q.m), n = static_cast<double>(q.n),
             k = static_cast<double>(q.k);
  const double input = bytes_per_element(q.precision);
  // fp8 products leave as bf16.
  const double output = q.accumulates_fp32 ? 2 * 4.0 : std::max(input, 2.0);
  return (input * (m * k + k * n) + output * m * n) * static_cast<double>(q.batch);
}

double grouped_flops(const GroupedGemmQuestion& q) {
  return 2.0 * static_cast<double>(q.rows) * static_cast<double>(q.n) * static_cast<double>(q.k);
}

double grouped_bytes(const GroupedGemmQuestion& q) {
  const auto rows = static_cast<double>(q.rows), n = static_cast<double>(q.n),
             k = static_cast<double>(q.k);
  const double matrices = static_cast<double>(q.groups) * n * k;
  const double input = bytes_per_element(q.precision);
  const double output = q.accumulates_fp32 ? 2 * 4.0 : std::max(input, 2.0);
  if (q.layout == Layout::weight_gradient) return input * rows * (n + k) + output * matrices;
  return input * (rows * k + matrices) + output * rows * n;
}

double attention_pairs(const AttentionQuestion& q) {
  const auto queries = static_cast<double>(q.query_length),
             keys = static_cast<double>(q.key_length);
  if (!q.causal) return queries * keys;
  // More queries than keys: the first queries see nothing.
  const double seen = std::min(queries, keys);
  return seen * keys - seen * seen / 2;
}

namespace {

double value_head_size(const AttentionQuestion& q) {
  return static_cast<double>(q.value_head_size > 0 ? q.value_head_size : q.head_size);
}

}  // namespace

double attention_flops(const AttentionQuestion& q) {
  // Forward: scores and values; backward: scores again, gradients of scores, queries, keys, values.
  const auto head = static_cast<double>(q.head_size), value = value_head_size(q);
  const double products = q.backward ? 3 * head + 2 * value : head + value;
  return products * 2 * attention_pairs(q) * static_cast<double>(q.sequences * q.query_heads);
}

double attention_bytes(const AttentionQuestion& q) {
  const double elements = static_cast<double>(q.sequences) *
                          (static_cast<double>(q.head_size) + value_head_size(q)) *
                          (static_cast<double>(q.query_heads * q.query_length) +
                           static_cast<double>(q.kv_heads * q.key_length));
  return elements * bytes_per_element(q.precision) * (q.backward ? 2 : 1);
}

}  // namespace calibrate::profile
