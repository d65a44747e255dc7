// Operators of a layer: products, their order, collectives, recomputation.
#include <doctest/doctest.h>

#include "tests/approximately.h"
#include "tests/sim/dnn/shapes.h"

namespace sim::dnn {
namespace {

std::vector<Operator> recomputed(const std::vector<Operator>& operators, bool is_recompute) {
  std::vector<Operator> result;
  for (const Operator& o : operators) {
    if (o.is_recompute == is_recompute) result.push_back(o);
  }
  return result;
}

}  // namespace

// Llama-3.1-8B, 8192 tokens, one rank. Matrices of a layer: 4096 * (4096 + 2 * 1024 + 4096) +
// 3 * 4096 * 14336 = 218,103,808, two FLOPs each and token: 3.573e12.
TEST_CASE("layer: products over tokens are twice the matrix parameters") {
  const Transformer dnn = llama_8b();
  const auto layer = layer_operators(dnn, {8192, 1, 1}, flash(), Recompute::none);
  CHECK(gemm_flops(layer.forward) == 2.0 * 8192 * 218'103'808);
  CHECK(layer_matrix_parameters(dnn) == 218'103'808);
  CHECK(gemm_flops(layer.backward) == 2 * gemm_flops(layer.forward));
}

TEST_CASE("layer: shapes follow C[m, n] += A[m, k] B[k, n]") {
  const auto layer = layer_operators(llama_8b(), {8192, 2, 4}, flash(), Recompute::none);
  const Operator* forward = named(layer.forward, "mlp input projection");
  REQUIRE(forward != nullptr);
  // 16384 tokens, 2 * 14336 / 4 = 7168 outputs, 4096 inputs.
  CHECK(forward->m == 16384);
  CHECK(forward->n == 7168);
  CHECK(forward->k == 4096);
  CHECK(forward->layout == GemmLayout::forward);
  // 2 bytes of 16384 * 4096 + 4096 * 7168 + 16384 * 7168 = 213,909,504 elements.
  CHECK(forward->bytes.value() == 427'819'008);
  const Operator* input = named(layer.backward, "mlp input projection input gradient");
  REQUIRE(input != nullptr);
  CHECK(input->m == 16384);
  CHECK(input->n == 4096);
  CHECK(input->k == 7168);
  CHECK(input->layout == GemmLayout::input_gradient);
  const Operator* weight = named(layer.backward, "mlp input projection weight gradient");
  REQUIRE(weight != nullptr);
  CHECK(weight->m == 7168);
  CHECK(weight->n == 4096);
  CHECK(weight->k == 16384);
  CHECK(weight->layout == GemmLayout::weight_gradient);
  CHECK(weight->accumulates_fp32);
  // 2 * (7168 * 16384 + 16384 * 4096) + 8 * 7168 * 4096.
  CHECK(weight->bytes.value() == 369'098'752 + 234'881'024);
}

// Without fusion the gradient is written in 2 bytes, read again, and added into 4: 2 + 4 + 4 = 10.
TEST_CASE("layer: a weight gradient that is not fused is added by a kernel of its own") {
  SoftwareStack stack = flash();
  stack.fused_gradient_accumulation = false;
  const Transformer dnn = llama_8b();
  auto layer = layer_operators(dnn, {1024, 1, 1}, stack, Recompute::none);
  double elements = 0, bytes = 0;
  for (const Operator& o : layer.backward) {
    CHECK_FALSE(o.accumulates_fp32);
    if (!o.name.ends_with("gradient accumulation")) continue;
    elements += o.elements;
    bytes += o.bytes.value();
  }
  CHECK(elements == static_cast<double>(layer_matrix_parameters(dnn)));
  CHECK(bytes == 10 * elements);
  stack.gradient_fp32 = false;  // 2 read, 2 read and 2 written
  layer = layer_operators(dnn, {1024, 1, 1}, stack, Recompute::none);
  const Operator* sum = named(layer.backward, "qkv projection gradient accumulation");
  REQUIRE(sum != nullptr);
  CHECK(sum->bytes.value() == 6 * sum->elements);
}

TEST_CASE("layer: FLOPs of all ranks together do not depend on the tensor degree") {
  for (const Transformer& dnn : {llama_8b(), gpt(4, 2048, 32, 1000, 512)}) {
    for (const SoftwareStack& stack : {flash(), unfused()}) {
      for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
        const auto one = layer_operators(dnn, {512, 2, 1}, stack, recompute);
        for (const int tensor : {2, 4, 8}) {
          for (const bool is_sequence_parallel : {false, true}) {
            CAPTURE(tensor);
            const Shard shard{512, 2, tensor, is_sequence_parallel};
            const auto layer = layer_operators(dnn, shard, stack, recompute);
            for (const auto kind : {OperatorKind::gemm, OperatorKind::attention}) {
              CHECK(tensor * flops_of(layer.forward, kind) == flops_of(one.forward, kind));
              CHECK(tensor * flops_of(layer.backward, kind) == flops_of(one.backward, kind));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("layer: one rank has no collectives") {
  for (const SoftwareStack& stack : {flash(), unfused()}) {
    const auto layer = layer_operators(llama_8b(), {512, 1, 1}, stack, Recompute::full);
    CHECK(collectives(layer.forward).empty());
    CHECK(collectives(layer.backward).empty());
    CHECK(layer.forward.size() > 10);
  }
}

// Two of 4 * 1024 * 4096 * 2 bytes = 32 MiB forward, behind each block; two backward, in front.
TEST_CASE("layer: tensor parallelism without sequence parallelism, two all-reduces each way") {
  SoftwareStack stack = flash();
  stack.overlaps_tensor = true;
  const auto layer = layer_operators(llama_8b(), {1024, 4, 8, false}, stack, Recompute::none);
  const auto forward = collectives(layer.forward);
  REQUIRE(forward.size() == 2);
  CHECK(forward[0].name == "output projection all-reduce");
  CHECK(forward[1].name == "mlp output projection all-reduce");
  const auto backward = collectives(layer.backward);
  REQUIRE(backward.size() == 2);
  CHECK(backward[0].name == "mlp input projection input gradient all-reduce");
  CHECK(backward[1].name == "qkv projection input gradient all-reduce");
  for (const Operator& o : forward) {
    CHECK(o.collective == Collective::all_reduce);
    CHECK(o.bytes.value() == 32.0 * 1024 * 1024);
    CHECK(o.overlapped == 0);
  }
  for (const Operator& o : backward) {
    CHECK(o.collective == Collective::all_reduce);
    CHECK(o.bytes.value() == 32.0 * 1024 * 1024);
    CHECK(o.overlapped == 1);
  }
}

// Korthikanti et al., 2022, figure 5 and section 4.2.2: g and its conjugate, twice each way, and a
// second gather of each saved input. Whole gathered buffers: 1024 * 4 * 4096 * 2 bytes = 32 MiB.
TEST_CASE("layer: sequence parallelism, in order") {
  SoftwareStack stack = flash();
  stack.overlaps_tensor = true;
  const auto layer = layer_operators(llama_8b(), {1024, 4, 8, true}, stack, Recompute::none);
  const std::vector<std::string> forward = {
      "qkv projection input all-gather", "output projection reduce-scatter",
      "mlp input projection input all-gather", "mlp output projection reduce-scatter"};
  CHECK(names(collectives(layer.forward)) == forward);
  const std::vector<std::string> backward = {"mlp output projection gradient all-gather",
                                             "mlp input projection saved input all-gather",
                                             "mlp input projection input gradient reduce-scatter",
                                             "output projection gradient all-gather",
                                             "qkv projection saved input all-gather",
                                             "qkv projection input gradient reduce-scatter"};
  CHECK(names(collectives(layer.backward)) == backward);
  for (const auto* list : {&layer.forward, &layer.backward}) {
    for (const Operator& o : collectives(*list)) CHECK(o.bytes.value() == 32.0 * 1024 * 1024);
  }
  // What is overlapped runs beside a product, the operator that follows.
  int overlapped = 0;
  for (std::size_t i = 0; i < layer.backward.size(); ++i) {
    if (layer.backward[i].overlapped == 0) continue;
    ++overlapped;
    REQUIRE(i + 1 < layer.backward.size());
    CHECK(layer.backward[i + 1].kind == OperatorKind::gemm);
  }
  CHECK(overlapped == 4);
  stack.overlaps_tensor = false;
  for (const Operator& o :
       layer_operators(llama_8b(), {1024, 4, 8, true}, stack, Recompute::none).backward) {
    CHECK(o.overlapped == 0);
  }
}

TEST_CASE("layer: order of the forward pass") {
  const auto layer = layer_operators(llama_8b(), {512, 1, 1}, flash(), Recompute::none);
  const std::vector<std::string> expected = {
      "attention norm",    "qkv projection",        "rotary",      "attention",
      "output projection", "attention residual",    "mlp norm",    "mlp input projection",
      "activation",        "mlp output projection", "mlp residual"};
  CHECK(names(layer.forward) == expected);
}

// Every product has an input gradient before its weight gradient, from the last layer to the first.
TEST_CASE("layer: order of the backward pass") {
  const auto layer = layer_operators(llama_8b(), {512, 1, 1}, flash(), Recompute::none);
  const std::vector<std::string> expected = {
      "mlp output projection input gradient", "mlp output projection weight gradient",
      "mlp input projection input gradient",  "mlp input projection weight gradient",
      "output projection input gradient",     "output projection weight gradient",
      "qkv projection input gradient",        "qkv projection weight gradient"};
  CHECK(names(of_kind(layer.backward, OperatorKind::gemm)) == expected);
}

// 4 products' worth of work instead of 3 for every product: hardware FLOPs are 4/3 of the model's.
TEST_CASE("layer: full recomputation runs the whole forward pass again, collectives included") {
  for (const SoftwareStack& stack : {flash(), unfused()}) {
    const Shard shard{512, 2, 4, true};
    const auto none = layer_operators(llama_8b(), shard, stack, Recompute::none);
    const auto full = layer_operators(llama_8b(), shard, stack, Recompute::full);
    const double model = gemm_flops(none.forward) + gemm_flops(none.backward);
    CHECK(3 * (gemm_flops(full.forward) + gemm_flops(full.backward)) == 4 * model);
    const auto again = recomputed(full.backward, true);
    CHECK(names(again) == names(full.forward));
    CHECK(full.backward.front().is_recompute);
    CHECK(full.backward.size() == none.backward.size() + none.forward.size());
    CHECK(collectives(again).size() == 4);
  }
}

// Unfused: scores and values, 4 b s^2 h FLOPs: 4 * 2 * 512^2 * 2048 = 2^32. Fused and causal: half.
TEST_CASE("layer: selective recomputation runs the attention core again, nothing else") {
  const Transformer dnn = gpt(4, 2048, 32, 1000, 512);
  const Shard shard{512, 2, 1};
  const auto core =
      recomputed(layer_operators(dnn, shard, unfused(), Recompute::selective).backward, true);
  const std::vector<std::string> expected = {"attention scores", "attention softmax",
                                             "attention dropout", "attention values"};
  CHECK(names(core) == expected);
  CHECK(gemm_flops(core) == 4294967296.0);
  const auto kernel =
      recomputed(layer_operators(dnn, shard, flash(), Recompute::selective).backward, true);
  REQUIRE(kernel.size() == 1);
  CHECK(kernel[0].kind == OperatorKind::attention);
  CHECK_FALSE(kernel[0].is_backward);
  CHECK(kernel[0].flops.value() == 2147483648.0);
}

// Llama-3.1-8B, 1024 tokens: 2 * 1024 * 4096 * (1024 + 4096 + 14336) FLOPs of the key's, the
// output's and the up projection; of the point-wise work all but the last residual.
TEST_CASE("layer: alternate recomputation runs every other product again, and no fused attention") {
  const Shard shard{1024, 1, 1};
  const auto layer = layer_operators(llama_8b(), shard, flash(), Recompute::alternate);
  const std::vector<Operator> again = recomputed(layer.backward, true);
  const std::vector<std::string> expected = {"attention norm",    "key projection",     "rotary",
                                             "output projection", "attention residual", "mlp norm",
                                             "mlp up projection", "activation"};
  CHECK(names(again) == expected);
  CHECK(gemm_flops(again) == 2.0 * 1024 * 4096 * (1024 + 4096 + 14336));
  // Unfused attention is three operators, of which none is kept.
  const auto eager = layer_operators(llama_8b(), shard, unfused(), Recompute::alternate);
  CHECK(recomputed(eager.backward, true).size() == 8 + 3);
  // With tensor parallelism inputs are gathered again; what is scattered was kept.
  const auto split = layer_operators(llama_8b(), {1024, 1, 2, true}, flash(), Recompute::alternate);
  int gathers = 0, scatters = 0;
  for (const Operator& o : split.backward) {
    if (!o.is_recompute || o.kind != OperatorKind::collective) continue;
    gathers += o.collective == Collective::all_gather ? 1 : 0;
    scatters += o.collective == Collective::reduce_scatter ? 1 : 0;
  }
  CHECK(gathers == 2);
  CHECK(scatters == 0);
}

// Llama-3.1-8B, 1024 tokens, bf16, elements read and written: norms 2 * 2 * 4096, residuals 2 * 3 *
// 4096, rotary 2 * 5120, activation 3 * 14336: 94,208 elements a token, 188,416 bytes. Backward:
// norms 2 * 4 * 4096, rotary 2 * 5120, activation 5 * 14336: 114,688 elements, 229,376 bytes.
TEST_CASE("layer: point-wise bytes by hand, and their factor") {
  const auto pointwise = [](const SoftwareStack& stack) {
    const auto layer = layer_operators(llama_8b(), {1024, 1, 1}, stack, Recompute::none);
    double forward = 0, backward = 0;
    for (const Operator& o : of_kind(layer.forward, OperatorKind::memory_bound)) {
      forward += o.bytes.value();
    }
    for (const Operator& o : of_kind(layer.backward, OperatorKind::memory_bound)) {
      backward += o.bytes.value();
    }
    return std::pair(forward, backward);
  };
  SoftwareStack stack = flash();
  CHECK(pointwise(stack) == std::pair(1024.0 * 188'416, 1024.0 * 229'376));
  stack.pointwise_traffic = 2.5;
  CHECK(pointwise(stack) == std::pair(2.5 * 1024 * 188'416, 2.5 * 1024 * 229'376));
}

// GPT, h = 128, 256 tokens over 4 ranks: norms and residuals see 64 tokens with sequence
// parallelism and 256 without; the activation always sees 256 tokens of 512 / 4 = 128 channels.
TEST_CASE("layer: sequence parallelism divides norms and residuals only") {
  const Transformer dnn = gpt(1, 128, 4, 1000, 64);
  const auto whole = layer_operators(dnn, {256, 1, 4, false}, unfused(), Recompute::none).forward;
  const auto split = layer_operators(dnn, {256, 1, 4, true}, unfused(), Recompute::none).forward;
  CHECK(named(whole, "mlp norm")->elements == 256 * 128);
  CHECK(named(split, "mlp norm")->elements == 64 * 128);
  CHECK(named(whole, "activation")->elements == 256 * 128);
  CHECK(named(split, "activation")->elements == 256 * 128);
  // 3 elements of 2 bytes and a mask byte.
  CHECK(named(split, "mlp residual")->bytes.value() == 64 * 128 * 7);
}

TEST_CASE("layer: eager stacks launch more kernels and add biases by themselves") {
  const Transformer dnn = gpt(1, 128, 4, 1000, 64);
  SoftwareStack eager = unfused();
  eager.fused_pointwise = false;
  const auto fused_layer = layer_operators(dnn, {256, 1, 1}, unfused(), Recompute::none);
  const auto eager_layer = layer_operators(dnn, {256, 1, 1}, eager, Recompute::none);
  CHECK(named(fused_layer.forward, "qkv projection bias") == nullptr);
  const Operator* bias = named(eager_layer.forward, "qkv projection bias");
  REQUIRE(bias != nullptr);
  CHECK(bias->bytes.value() == 256.0 * 384 * 4);  // read and written
  const auto launches = [](const std::vector<Operator>& operators) {
    int sum = 0;
    for (const Operator& o : operators) sum += o.kernels;
    return sum;
  };
  CHECK(launches(eager_layer.forward) > launches(fused_layer.forward));
}

// Llama-3.1-8B over 4 ranks, 8192 tokens: 2048 rows of 4096 elements, 16 MiB, come from each of
// three others while the rows that were there before are multiplied.
TEST_CASE("layer: products in pieces, what is gathered or scattered beside them") {
  SoftwareStack stack = flash();
  const auto whole = layer_operators(llama_8b(), {8192, 1, 4}, stack, Recompute::none);
  stack.splits_tensor_products = true;
  const auto split = layer_operators(llama_8b(), {8192, 1, 4}, stack, Recompute::none);
  for (const auto& [pieces, one] :
       {std::pair(&split.forward, &whole.forward), {&split.backward, &whole.backward}}) {
    CHECK(gemm_flops(*pieces) == gemm_flops(*one));
  }
  std::string order;
  for (const Operator& o : split.forward) {
    if (o.name.starts_with("mlp input projection")) {
      order += o.kind == OperatorKind::gemm ? "P" : "s";
      if (o.kind == OperatorKind::gemm) {
        CHECK(o.m == 2048);
      } else {
        CHECK(o.collective == Collective::send_receive);
        CHECK(o.bytes == Bytes(16'777'216));
        CHECK(o.overlapped == 1);
      }
    }
    if (!o.name.starts_with("mlp output projection")) continue;
    order += o.kind == OperatorKind::gemm ? "Q" : o.kind == OperatorKind::collective ? "r" : "+";
    // Four pieces of 2048 x 4096 elements are read, their sum is written.
    if (o.kind == OperatorKind::memory_bound) CHECK(o.bytes == Bytes(5 * 16'777'216));
  }
  CHECK(order == "sPsPsPPQrQrQrQ+");
  // The whole sequence on one rank is not cut.
  CHECK(layer_operators(llama_8b(), {8192, 1, 1}, stack, Recompute::none).forward.size() ==
        layer_operators(llama_8b(), {8192, 1, 1}, flash(), Recompute::none).forward.size());
}

}  // namespace sim::dnn
