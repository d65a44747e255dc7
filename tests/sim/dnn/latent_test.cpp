// Multi-head latent attention: parameters, projections, head sizes that differ.
#include <doctest/doctest.h>

#include "tests/approximately.h"
#include "tests/sim/dnn/shapes.h"

namespace sim::dnn {

// DeepSeek-V3, attention of a layer: 7168 * 1536 + 1536 * 24576 + 7168 * 576 + 512 * 32768 +
// 16384 * 7168 = 187,105,280; norms of the ranks 2,048, of the layer 14,336: 187,121,664.
// Dense block 3 * 7168 * 18432 = 396,361,728. Experts: 257 * 3 * 7168 * 2048 = 11,318,329,344,
// router 7168 * 256 + 256.
TEST_CASE("latent attention: DeepSeek-V3 by hand and as published") {
  const Transformer dnn = deepseek_v3();
  CHECK(layer_parameters(dnn, {false}) == 187'121'664 + 396'361'728);
  CHECK(layer_parameters(dnn, {true}) == 187'121'664 + 11'318'329'344 + 1'835'264);
  CHECK(layer_norm_parameters(dnn) == 16'384);
  CHECK(total_parameters(dnn) - prediction_parameters(dnn) == 671'026'419'200);
  // Three norms, two states to one, a layer with experts: 21,504 + 102,760,448.
  CHECK(prediction_parameters(dnn) == 102'781'952 + layer_parameters(dnn, {true}));
  // README_WEIGHTS.md of the model: 36.7 billion active with one of the tables.
  CHECK((active_parameters(dnn) - embedding_parameters(dnn)) / 100'000'000 == 366);
}

// V2-Lite projects queries directly: 2048 * 3072 + 2048 * 576 + 512 * 4096 + 2048 * 2048 + 512.
TEST_CASE("latent attention: queries without a rank") {
  Transformer dnn = llama(27, 2048, 16, 16, 10944, 102400);
  dnn.head_size = 192;
  dnn.latent = {.query_rank = 0, .key_value_rank = 512, .rotary_size = 64, .value_size = 128};
  CHECK(layer_parameters(dnn) == 13'763'072 + 4'096 + 3 * 2048 * 10944);
  const auto layer = layer_operators(dnn, {1024, 1, 1}, flash(), Recompute::none);
  CHECK(named(layer.forward, "query down-projection") == nullptr);
  CHECK(named(layer.forward, "query up-projection")->k == 2048);
}

// What a token is multiplied by, twice; backward as much again for each operand.
TEST_CASE("latent attention: products are twice the matrix parameters") {
  const Transformer dnn = deepseek_v3();
  const auto layer = layer_operators(dnn, {4096, 1, 1}, flash(), Recompute::none, {false});
  CHECK(gemm_flops(layer.forward) == 2.0 * 4096 * (187'105'280 + 396'361'728.0));
  CHECK(gemm_flops(layer.backward) == 2 * gemm_flops(layer.forward));
  CHECK(layer_matrix_parameters(dnn, {false}) == 187'105'280 + 396'361'728);
}

// 4096 tokens, 128 heads: 4096^2 / 2 pairs, 2 * (192 + 128) FLOPs each; backward three products of
// 192 and two of 128: 2 * 832.
TEST_CASE("latent attention: queries and keys are wider than values") {
  const auto layer =
      layer_operators(deepseek_v3(), {4096, 1, 1}, flash(), Recompute::none, {false});
  const Operator* forward = named(layer.forward, "attention");
  REQUIRE(forward != nullptr);
  CHECK(forward->head_size == 192);
  CHECK(forward->value_head_size == 128);
  const double pairs = 128.0 * 4096 * 2048;
  CHECK(forward->flops.value() == pairs * 640);
  CHECK(named(layer.backward, "attention gradient")->flops.value() == pairs * 1664);
  // q and k of 192, v and the output of 128, and 4 bytes of statistics a row.
  CHECK(forward->bytes.value() == 128.0 * 4096 * (2 * (192 + 192 + 128 + 128) + 4));
}

// Down projections see the 1024 tokens of this rank, up projections all 4096 for 32 of 128 heads.
TEST_CASE("latent attention: what tensor parallelism splits") {
  const auto layer =
      layer_operators(deepseek_v3(), {4096, 1, 4}, flash(), Recompute::none, {false});
  const Operator* down = named(layer.forward, "key and value down-projection");
  REQUIRE(down != nullptr);
  CHECK(down->m == 1024);
  CHECK(down->n == 576);
  const Operator* up = named(layer.forward, "key and value up-projection");
  CHECK(up->m == 4096);
  CHECK(up->n == 32 * 256);
  CHECK(named(layer.forward, "key and value up-projection input all-gather")->bytes.value() ==
        4096 * 512 * 2);
  CHECK(named(layer.forward, "rotary key all-gather")->bytes.value() == 4096 * 64 * 2);
  CHECK(named(layer.backward, "rotary key gradient reduce-scatter")->bytes.value() ==
        4096 * 64 * 2);
  // The down projections are on every rank: 7168 * (1536 + 576), with the four norms.
  const double one = shard_parameters(deepseek_v3(), {4096, 1, 1}, flash(), {false}).layer;
  const double four = shard_parameters(deepseek_v3(), {4096, 1, 4}, flash(), {false}).layer;
  CHECK(4 * four == one + 3 * (7168.0 * 2112 + 16'384));
}

// Elements a token: hidden 4 x 7168; ranks before and behind their norms 2 * 2048; q, k 24576 each,
// v and output 16384 each; block 3 * 18432; 4 bytes of statistics for each of 128 heads.
TEST_CASE("latent attention: what is kept") {
  const auto kept =
      activation_bytes(deepseek_v3(), {4096, 1, 1}, flash(), Recompute::none, {false});
  CHECK(kept.per_layer.value() ==
        4096.0 * (2 * (4 * 7168 + 4096 + 2 * 24576 + 2 * 16384 + 3 * 18432) + 4 * 128));
}

}  // namespace sim::dnn
