// FLOPs and least bytes of an operator, and the roofline over them.
#pragma once

#include "calibrate/profile/profile.h"

namespace calibrate::profile {

double bytes_per_element(Precision precision);

// A type the device has no units for runs at the rate of the next wider one it has: fp8 as bf16,
// fp16 and bf16 as each other, tf32 as fp32. Zero when the device names no peak at all.
FlopsPerSecond peak(const DeviceType& device, Precision precision);

// 2 m n k per batch entry.
double gemm_flops(const GemmQuestion& question);
// Both inputs read once and the output written once; an accumulating output (fp32) is also read.
double gemm_bytes(const GemmQuestion& question);

// Pairs of a query and a key that are computed, per sequence and query head. Causal with fewer
// queries than keys: the last query sees every key, so q k - q (q - 1) / 2, taken as q k - q^2 / 2.
double grouped_flops(const GroupedGemmQuestion& question);
double grouped_bytes(const GroupedGemmQuestion& question);
double attention_pairs(const AttentionQuestion& question);
// Forward: two products of 2 pairs d FLOPs each. Backward: five (scores are computed again).
double attention_flops(const AttentionQuestion& question);
// Forward: query, key, value, output once. Backward: those and their four gradients.
double attention_bytes(const AttentionQuestion& question);

}  // namespace calibrate::profile
