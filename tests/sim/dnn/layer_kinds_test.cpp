// Layers that differ: which have experts, which see a window, and what all of them add up to.
#include <doctest/doctest.h>

#include "tests/approximately.h"
#include "tests/sim/dnn/shapes.h"

namespace sim::dnn {

TEST_CASE("layer kinds: layers of a dense transformer are alike") {
  const LayerKinds all = layer_kinds(llama_8b());
  REQUIRE(all.kinds.size() == 1);
  CHECK(all.kinds[0] == LayerKind{});
  CHECK(all.of_layer == std::vector<std::size_t>(32, 0));
  CHECK(only_kind(llama_8b()) == LayerKind{});
  CHECK(only_kind(mixtral_8x7b()).is_moe);
}

// Of 61 layers the first 3 are dense.
TEST_CASE("layer kinds: dense layers first") {
  const LayerKinds all = layer_kinds(deepseek_v3());
  REQUIRE(all.kinds.size() == 2);
  for (std::size_t i = 0; i < 61; ++i) CHECK(all.kinds[all.of_layer[i]].is_moe == (i >= 3));
  CHECK(prediction_kind(deepseek_v3()).is_moe);
}

// Layers 1, 3, 5, ... have experts; layers 3, 7, 11, ... see everything: four kinds are possible,
// but every layer that sees everything has experts.
TEST_CASE("layer kinds: two periods") {
  const LayerKinds all = layer_kinds(llama_4_maverick());
  const std::vector<LayerKind> expected = {{false, AttentionSpan::chunked, 8192},
                                           {true, AttentionSpan::chunked, 8192},
                                           {true, AttentionSpan::full, 0}};
  CHECK(all.kinds == expected);
  const std::vector<std::size_t> first(all.of_layer.begin(), all.of_layer.begin() + 8);
  CHECK(first == std::vector<std::size_t>{0, 1, 0, 2, 0, 1, 0, 2});
}

// gpt-oss-20b, by hand, a layer: q, k, v 2880 * 5120 + 5120; output 4096 * 2880 + 2880; sinks 64;
// norms 5760: 26,550,080 + 8,000 + 5,824 = 26,557,184 with the router's 2880 * 32 + 32 = 92,192
// apart. An expert: 3 * 2880^2 + 3 * 2880 = 24,891,840, 32 of them 796,538,880.
TEST_CASE("layer parameters: gpt-oss by hand") {
  const Transformer dnn = gpt_oss_20b();
  const LayerKind kind = layer_kind(dnn, 0);
  CHECK(routed_parameters(dnn) == 32 * 24'891'840LL);
  CHECK(inactive_parameters(dnn) == 28 * 24'891'840LL);
  const std::int64_t attention = 2880 * 5120 + 5120 + 4096 * 2880 + 2880 + 64;
  CHECK(layer_parameters(dnn, kind) == attention + 5760 + 92'192 + 796'538'880);
  CHECK(total_parameters(dnn) == 20'914'757'184);
  // OpenAI, gpt-oss model card, 2025, table 1: 20.91 billion in all, 19.12 in experts, 3.61 active
  // beside the input table.
  CHECK(24 * routed_parameters(dnn) / 10'000'000 == 1'911);
  CHECK((active_parameters(dnn) - embedding_parameters(dnn)) / 10'000'000 == 360);
}

// A dense layer of Maverick has 3 * 5120 * 16384 = 251,658,240 in its block; a layer with experts
// 129 blocks of 3 * 5120 * 8192 = 125,829,120 and a router of 655,360. Attention and norms:
// 2 * 5120 * (5120 + 1024) + 2 * 5120 = 62,924,800.
TEST_CASE("layer parameters: Maverick by hand") {
  const Transformer dnn = llama_4_maverick();
  CHECK(layer_parameters(dnn, {false}) == 62'924'800 + 251'658'240);
  CHECK(layer_parameters(dnn, {true}) == 62'924'800 + 655'360 + 129 * 125'829'120LL);
  const std::int64_t tables = 2 * 202'048LL * 5120 + 5120;
  CHECK(total_parameters(dnn) ==
        24 * (layer_parameters(dnn, {false}) + layer_parameters(dnn, {true})) + tables);
  CHECK(total_parameters(dnn) == 400'711'848'960);
}

// One rank holds what the transformer has; expert and tensor ranks share it, but for what all
// repeat.
TEST_CASE("parameters of a rank: experts apart from the rest") {
  for (const Transformer& dnn :
       {mixtral_8x7b(), deepseek_v3(), gpt_oss_20b(), llama_4_maverick()}) {
    for (const LayerKind& kind : layer_kinds(dnn).kinds) {
      const auto one = shard_parameters(dnn, {1024, 1, 1}, flash(), kind);
      CHECK(one.layer + one.experts == static_cast<double>(layer_parameters(dnn, kind)));
      CHECK(one.experts == (kind.is_moe ? static_cast<double>(routed_parameters(dnn)) : 0));
      if (dnn.mlp_bias) continue;
      for (const int expert : {2, 4, 8}) {
        for (const int expert_tensor : {1, 2, 4}) {
          Shard shard{1024, 1, 4};
          shard.expert = expert;
          shard.expert_tensor = expert_tensor;
          CHECK(expert * expert_tensor * shard_parameters(dnn, shard, flash(), kind).experts ==
                one.experts);
        }
      }
    }
  }
}

// 12,879,925,248 active less the input table of 131,072,000, six FLOPs each; 12 * 32 * 4096 * 8192
// for attention.
TEST_CASE("model FLOPs: experts count as far as a token meets them") {
  CHECK(model_flops_per_token(mixtral_8x7b(), 8192, false) ==
        6.0 * (12'879'925'248 - 131'072'000) + 12.0 * 32 * 4096 * 8192);
}

// gpt-oss, 4096 tokens: 12 layers see half of 4096 keys in the mean, 12 see 128 less 128^2 / 8192
// = 2.
TEST_CASE("model FLOPs: windows") {
  const Transformer dnn = gpt_oss_20b();
  const double products = 6.0 * (4'187'440'704 - 201'088.0 * 2880);
  CHECK(model_flops_per_token(dnn, 4096, true) == products + 12.0 * 4096 * 12 * (2048 + 126));
  CHECK(model_flops_per_token(dnn, 4096, false) == products + 12.0 * 4096 * 12 * (4096 + 128));
  // Chunks: 8192 of 32768 keys, 4096 in the mean; layers that see everything 16384.
  const Transformer chunked = llama_4_maverick();
  const double met = 6.0 * (17'184'691'200 - 202'048.0 * 5120);
  CHECK(model_flops_per_token(chunked, 32768, true) ==
        met + 12.0 * 5120 * (36 * 4096 + 12 * 16384));
}

}  // namespace sim::dnn
