// What the simulator counts for a small layer, which kernels are compared with.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "sim/dnn/operators.h"

// Of the first memory-bound operator of a fused layer whose name contains `part`: bytes of an
// element, where a number has `width` bytes.
inline double counted_bytes(const std::string& part, double width, bool gated = true,
                            sim::dnn::Norm norm = sim::dnn::Norm::rms_norm) {
  sim::dnn::Transformer dnn;
  dnn.layers = 1;
  dnn.hidden = 64;
  dnn.heads = 4;
  dnn.kv_heads = 4;
  dnn.head_size = 16;
  dnn.ffn = 128;
  dnn.gated = gated;
  dnn.vocabulary = 256;
  dnn.norm = norm;
  sim::dnn::Shard shard;
  shard.sequence = 32;
  shard.bytes_per_element = width;
  std::string names;
  for (const auto& o :
       sim::dnn::layer_operators(dnn, shard, {}, sim::dnn::Recompute::none).forward) {
    names += o.name + "; ";
    if (o.kind != sim::dnn::OperatorKind::memory_bound) continue;
    if (o.name.find(part) != std::string::npos) return o.bytes.value() / o.elements;
  }
  FAIL(names);
  return 0;
}
