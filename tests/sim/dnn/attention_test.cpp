// Fused and unfused attention.
#include "sim/dnn/attention.h"

#include <doctest/doctest.h>

#include "tests/sim/dnn/shapes.h"

namespace sim::dnn {

// Llama-3.1-8B on 4 ranks: 8 query heads and 2 key heads of 128. 2 sequences of 4096:
// 4 * 2 * 8 * 4096 * 4096 * 128 / 2 = 2^36 FLOPs forward, 2.5 times that backward.
// Bytes forward: (2 * 8 + 2 * 2) heads * 128 * 8192 tokens * 2 + 4 * 8192 * 8.
TEST_CASE("fused attention: shape, FLOPs, bytes") {
  const Shard shard{4096, 2, 4};
  const auto forward = attention_forward(llama_8b(), shard, flash());
  REQUIRE(forward.size() == 1);
  CHECK(forward[0].kind == OperatorKind::attention);
  CHECK(forward[0].sequences == 2);
  CHECK(forward[0].query_heads == 8);
  CHECK(forward[0].kv_heads == 2);
  CHECK(forward[0].query_length == 4096);
  CHECK(forward[0].key_length == 4096);
  CHECK(forward[0].head_size == 128);
  CHECK(forward[0].causal);
  CHECK(forward[0].flops.value() == 68719476736.0);
  CHECK(forward[0].bytes.value() == 20.0 * 128 * 8192 * 2 + 4 * 8192 * 8);
  const auto backward = attention_backward(llama_8b(), shard, flash());
  REQUIRE(backward.size() == 1);
  CHECK(backward[0].is_backward);
  CHECK(backward[0].flops.value() == 171798691840.0);
}

TEST_CASE("fused attention: without a mask all pairs count") {
  Transformer dnn = llama_8b();
  dnn.causal = false;
  CHECK(attention_forward(dnn, {4096, 2, 4}, flash())[0].flops.value() == 2 * 68719476736.0);
}

// Key heads fewer than ranks are held by several: 8 over 16 ranks gives 1, not a half.
TEST_CASE("attention: a rank has at least one key head") {
  const Transformer dnn = llama(1, 16384, 128, 8, 53248, 128256);
  CHECK(attention_forward(dnn, {256, 1, 16}, flash())[0].kv_heads == 1);
  CHECK(attention_forward(dnn, {256, 1, 16}, flash())[0].query_heads == 8);
}

// GPT, 4 heads of 32 on 2 ranks, 3 sequences of 64: batches of 6 products 64 x 64 x 32, 2 * 64 * 64
// * 32 * 6 = 1,572,864 FLOPs each; two forward, four backward. Scores: 6 * 64 * 64 = 24,576,
// softmax reads and writes them (4 bytes), dropout as well and keeps a byte (5), backward 6 and 5.
TEST_CASE("unfused attention: products and passes over the scores") {
  const Transformer dnn = gpt(1, 128, 4, 1000, 64);
  const Shard shard{64, 3, 2};
  const auto forward = attention_forward(dnn, shard, unfused());
  const auto backward = attention_backward(dnn, shard, unfused());
  CHECK(gemm_flops(forward) == 2 * 1'572'864.0);
  CHECK(gemm_flops(backward) == 4 * 1'572'864.0);
  for (const auto* list : {&forward, &backward}) {
    for (const Operator& o : *list) {
      if (o.kind == OperatorKind::gemm) CHECK(o.batch == 6);
      CHECK_FALSE(o.accumulates_fp32);
    }
  }
  CHECK(named(forward, "attention softmax")->bytes.value() == 24'576 * 4);
  CHECK(named(forward, "attention dropout")->bytes.value() == 24'576 * 5);
  CHECK(named(backward, "attention softmax gradient")->bytes.value() == 24'576 * 6);
  CHECK(named(backward, "attention dropout gradient")->bytes.value() == 24'576 * 5);
}

TEST_CASE("unfused attention: no dropout, no dropout kernels") {
  Transformer dnn = gpt(1, 128, 4, 1000, 64);
  dnn.dropout = 0;
  CHECK(attention_forward(dnn, {64, 3, 2}, unfused()).size() == 3);
  CHECK(attention_backward(dnn, {64, 3, 2}, unfused()).size() == 5);
}

}  // namespace sim::dnn
