// A mixture of experts: rows, products, exchanges, order.
#include <doctest/doctest.h>

#include "tests/approximately.h"
#include "tests/sim/dnn/shapes.h"

namespace sim::dnn {
namespace {

Shard cut(int tensor, int expert, int expert_tensor) {
  Shard shard{4096, 1, tensor};
  shard.expert = expert;
  shard.expert_tensor = expert_tensor;
  return shard;
}

LayerOperators layer_of(const Transformer& dnn, const Shard& shard) {
  return layer_operators(dnn, shard, flash(), Recompute::none, {.is_moe = true});
}

double grouped(const std::vector<Operator>& operators) {
  return flops_of(operators, OperatorKind::grouped_gemm);
}

std::vector<std::string> names_of_block(const std::vector<Operator>& operators, const char* from,
                                        const char* to) {
  std::vector<std::string> result;
  for (const Operator& o : operators) {
    if (o.name == from || !result.empty()) result.push_back(o.name);
    if (o.name == to) break;
  }
  return result;
}

}  // namespace

// 4096 tokens of Mixtral go to 2 experts each: 8192 rows of 4096 x 14336, three products.
TEST_CASE("experts: products of one rank by hand") {
  const auto layer = layer_of(mixtral_8x7b(), cut(1, 1, 1));
  const Operator* in = named(layer.forward, "expert input projection");
  REQUIRE(in != nullptr);
  CHECK(in->kind == OperatorKind::grouped_gemm);
  CHECK(in->groups == 8);
  CHECK(in->m == 8192);
  CHECK(in->n == 28672);
  CHECK(in->k == 4096);
  CHECK(grouped(layer.forward) == 2.0 * 8192 * 3 * 4096 * 14336);
  CHECK(grouped(layer.backward) == 2 * grouped(layer.forward));
  // Rows in, 8 matrices, rows out, 2 bytes each.
  CHECK(in->bytes.value() == 2.0 * (8192.0 * 4096 + 8.0 * 28672 * 4096 + 8192.0 * 28672));
  const Operator* weight = named(layer.backward, "expert input projection weight gradient");
  REQUIRE(weight != nullptr);
  CHECK(weight->layout == GemmLayout::weight_gradient);
  CHECK(weight->accumulates_fp32);
  CHECK(weight->m == 8192);
  CHECK(weight->n == 28672);
  CHECK(weight->k == 4096);
  CHECK(weight->bytes.value() == 2.0 * 8192 * (28672 + 4096) + 8.0 * 8 * 28672 * 4096);
  const Operator* input = named(layer.backward, "expert input projection input gradient");
  CHECK(input->n == 4096);
  CHECK(input->k == 28672);
  CHECK(collectives(layer.forward).empty());
}

// The ranks of a tensor group hold one copy of the tokens between blocks, those of an expert group
// a copy of each expert: FLOPs of all ranks together are those of one.
TEST_CASE("experts: FLOPs of all ranks do not depend on how experts are cut") {
  for (const Transformer& dnn : {mixtral_8x7b(), deepseek_v3()}) {
    const auto one = layer_of(dnn, cut(1, 1, 1));
    for (const int tensor : {1, 2, 4}) {
      for (const int expert : {1, 2, 8}) {
        for (const int expert_tensor : {1, 2, 4}) {
          CAPTURE(tensor);
          CAPTURE(expert);
          CAPTURE(expert_tensor);
          const auto layer = layer_of(dnn, cut(tensor, expert, expert_tensor));
          CHECK(tensor * grouped(layer.forward) == grouped(one.forward));
          CHECK(tensor * grouped(layer.backward) == grouped(one.backward));
        }
      }
    }
  }
}

// 4 tensor ranks hold 1024 tokens each, which are 2048 rows of 4096 in 2 bytes: 16 MiB sent by
// each. Two expert tensor ranks gather 32 MiB.
TEST_CASE("experts: what is exchanged") {
  const auto layer = layer_of(mixtral_8x7b(), cut(4, 4, 2));
  constexpr double mib = 1024.0 * 1024;
  const auto bytes = [](const std::vector<Operator>& operators, const char* name) {
    const Operator* o = named(operators, name);
    REQUIRE(o != nullptr);
    return o->bytes.value();
  };
  CHECK(bytes(layer.forward, "dispatch") == 16 * mib);
  CHECK(bytes(layer.forward, "combine") == 16 * mib);
  CHECK(bytes(layer.forward, "expert input all-gather") == 32 * mib);
  CHECK(bytes(layer.forward, "expert output reduce-scatter") == 32 * mib);
  CHECK(bytes(layer.backward, "combine gradient") == 16 * mib);
  CHECK(bytes(layer.backward, "dispatch gradient") == 16 * mib);
  CHECK(named(layer.forward, "dispatch")->collective == Collective::dispatch);
  CHECK(named(layer.forward, "dispatch")->group == RankGroup::expert);
  CHECK(named(layer.forward, "expert input all-gather")->group == RankGroup::expert_tensor);
  const Operator* in = named(layer.forward, "expert input projection");
  CHECK(in->groups == 2);
  CHECK(in->m == 4096);
  CHECK(in->n == 14336);
  // A token of 4096 read, two rows written: 3 * 1024 * 4096 * 2 bytes.
  CHECK(bytes(layer.forward, "permute") == 24 * mib);
  CHECK(bytes(layer.forward, "unpermute") == 24 * mib);
  CHECK(bytes(layer.forward, "expert sort") == 2 * 32 * mib);
}

TEST_CASE("experts: order of the forward pass") {
  const auto layer = layer_of(deepseek_v3(), cut(2, 8, 2));
  const std::vector<std::string> expected = {"router",
                                             "top-k",
                                             "permute",
                                             "dispatch",
                                             "shared expert input projection input all-gather",
                                             "shared expert input projection",
                                             "shared expert activation",
                                             "shared expert output projection",
                                             "shared expert output projection reduce-scatter",
                                             "expert input all-gather",
                                             "expert sort",
                                             "expert input projection",
                                             "expert activation",
                                             "expert output projection",
                                             "expert unsort",
                                             "expert output reduce-scatter",
                                             "combine",
                                             "unpermute",
                                             "shared expert sum"};
  CHECK(names_of_block(layer.forward, "router", "shared expert sum") == expected);
}

TEST_CASE("experts: order of the backward pass") {
  const auto layer = layer_of(mixtral_8x7b(), cut(1, 2, 1));
  const std::vector<std::string> expected = {"unpermute gradient",
                                             "combine gradient",
                                             "expert unsort gradient",
                                             "expert output projection input gradient",
                                             "expert output projection weight gradient",
                                             "expert activation gradient",
                                             "expert input projection input gradient",
                                             "expert input projection weight gradient",
                                             "expert sort gradient",
                                             "dispatch gradient",
                                             "permute gradient",
                                             "balance loss gradient",
                                             "top-k gradient",
                                             "router input gradient",
                                             "router weight gradient",
                                             "expert input gradient sum",
                                             "mlp norm gradient"};
  CHECK(names_of_block(layer.backward, "unpermute gradient", "mlp norm gradient") == expected);
}

TEST_CASE("experts: the stack may exchange rows behind the shared experts") {
  SoftwareStack stack = flash();
  const auto overlapped = [&](const Transformer& dnn) {
    const auto layer = layer_operators(dnn, cut(1, 8, 1), stack, Recompute::none, {.is_moe = true});
    return std::pair(named(layer.forward, "dispatch")->overlapped,
                     named(layer.backward, "combine gradient")->overlapped);
  };
  CHECK(overlapped(deepseek_v3()) == std::pair(0, 0));
  stack.overlaps_shared_experts = true;
  // Two products and the activation between them; of each product two gradients.
  CHECK(overlapped(deepseek_v3()) == std::pair(3, 5));
  CHECK(overlapped(mixtral_8x7b()) == std::pair(0, 0));
}

// 4096 tokens: qkv 4096 inputs and 6144 outputs, output 2 * 4096, router 4096 + 8; 8192 rows: 4096
// and 28,672, 14,336 and 4096.
TEST_CASE("experts: what is kept until weight gradients run") {
  const auto layer = layer_of(mixtral_8x7b(), cut(1, 1, 1));
  const double elements =
      4096.0 * (10'240 + 8'192 + 4'104) + 8192.0 * (4096 + 28'672 + 14'336 + 4096);
  CHECK(weight_gradient_operands(layer, cut(1, 1, 1)).value() == 2 * elements);
  for (const Operator& o : layer.backward) {
    CHECK(o.is_weight_gradient == (o.layout == GemmLayout::weight_gradient));
  }
}

// Half as many rows again than the even share: 3072 instead of 2048; a capacity of 1.25: 2560.
TEST_CASE("experts: load and capacity") {
  Shard shard = cut(4, 4, 1);
  shard.expert_load = 1.5;
  const auto hot = layer_of(mixtral_8x7b(), shard);
  CHECK(named(hot.forward, "expert input projection")->m == 3072);
  CHECK(named(hot.forward, "dispatch")->bytes.value() == 2048.0 * 4096 * 2);
  // What comes back to a rank follows from its own tokens.
  CHECK(named(hot.forward, "combine")->bytes.value() == 2048.0 * 4096 * 2);
  Transformer padded = mixtral_8x7b();
  padded.experts.capacity_factor = 1.25;
  const auto even = layer_of(padded, shard);
  CHECK(named(even.forward, "expert input projection")->m == 2560);
  CHECK(named(even.forward, "dispatch")->bytes.value() == 2560.0 * 4096 * 2);
}

TEST_CASE("experts: recomputation") {
  const Transformer dnn = mixtral_8x7b();
  const auto full = layer_operators(dnn, cut(1, 2, 1), flash(), Recompute::full, {.is_moe = true});
  CHECK(names(std::vector<Operator>(
            full.backward.begin(),
            full.backward.begin() + static_cast<std::ptrdiff_t>(full.forward.size()))) ==
        names(full.forward));
  const auto selective =
      layer_operators(dnn, cut(1, 2, 1), flash(), Recompute::selective, {.is_moe = true});
  CHECK(grouped(selective.backward) == 2 * grouped(selective.forward));
}

// Mixtral, elements a token: hidden 4 x 4096, q, output 2 x 4096, k, v 2 x 1024, then two rows of
// 4096 + 3 * 14336; 5 bytes for each of 8 scores, 4 for each of 32 heads.
TEST_CASE("experts: what is kept") {
  const auto kept = activation_bytes(mixtral_8x7b(), cut(1, 1, 1), flash(), Recompute::none);
  const double elements = 6.0 * 4096 + 2 * 1024 + 2 * (4096 + 3 * 14336);
  CHECK(kept.per_layer.value() == 4096 * (2 * elements + 5 * 8 + 4 * 32));
  CHECK(
      activation_bytes(mixtral_8x7b(), cut(1, 1, 1), flash(), Recompute::full).per_layer.value() ==
      4096.0 * 4096 * 2);
  // A shared expert adds gate, up and their product: 3 * 2048 elements a token.
  Transformer without = deepseek_v3();
  without.experts.shared_ffn = 0;
  const auto bytes = [&](const Transformer& dnn) {
    return activation_bytes(dnn, cut(1, 8, 1), flash(), Recompute::none, {true}).per_layer.value();
  };
  CHECK(bytes(deepseek_v3()) - bytes(without) == 4096.0 * 3 * 2048 * 2);
}

TEST_CASE("experts: what cannot be cut, and why") {
  CHECK_FALSE(expert_obstacle(mixtral_8x7b(), cut(4, 8, 2)));
  CHECK(*expert_obstacle(mixtral_8x7b(), cut(1, 3, 1)) == "expert 3 does not divide the 8 experts");
  CHECK(*expert_obstacle(mixtral_8x7b(), cut(1, 1, 3)) ==
        "expert tensor 3 does not divide the 14336 columns of an expert");
  CHECK(*expert_obstacle(llama_8b(), cut(1, 2, 1)) ==
        "expert 2 x 1 cuts experts, but the dnn has none");
  Shard shard = cut(4, 2, 1);
  shard.sequence_parallel = false;
  CHECK(expert_obstacle(mixtral_8x7b(), shard));
}

}  // namespace sim::dnn
