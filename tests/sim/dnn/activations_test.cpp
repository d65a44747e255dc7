// Saved activations against closed forms.
#include <doctest/doctest.h>

#include "tests/approximately.h"
#include "tests/sim/dnn/shapes.h"

namespace sim::dnn {
namespace {

double per_layer(const Transformer& dnn, const Shard& shard, const SoftwareStack& stack,
                 Recompute recompute) {
  return activation_bytes(dnn, shard, stack, recompute).per_layer.value();
}

}  // namespace

// Korthikanti et al., 2022, table 2: sbh(34 + 5as/h); with tensor parallelism sbh(10 + 24/t +
// 5as/(ht)); with sequence parallelism (sbh/t)(34 + 5as/h); and selective 34 sbh/t; full 2 sbh, of
// which sequence parallelism keeps 1/t. Written in whole numbers: sbh * 24/t is 24 sb (h/t).
TEST_CASE("activations: closed forms of GPT, to the byte") {
  for (const std::int64_t s : {64, 1024, 2048}) {
    for (const std::int64_t b : {1, 3, 8}) {
      for (const int a : {8, 16, 64}) {
        for (const std::int64_t h : {a * 64LL, a * 128LL}) {
          const Transformer dnn = gpt(4, h, a, 51200, s);
          for (const int t : {1, 2, 4, 8}) {
            CAPTURE(s);
            CAPTURE(b);
            CAPTURE(a);
            CAPTURE(h);
            CAPTURE(t);
            const Shard tensor{s, b, t, false}, sequence{s, b, t, true};
            const std::int64_t scores = 5 * a * s * s * b / t, stream = s * b * h;
            const auto stack = unfused();
            CHECK(per_layer(dnn, tensor, stack, Recompute::none) ==
                  static_cast<double>(10 * stream + 24 * stream / t + scores));
            CHECK(per_layer(dnn, sequence, stack, Recompute::none) ==
                  static_cast<double>(34 * stream / t + scores));
            CHECK(per_layer(dnn, sequence, stack, Recompute::selective) ==
                  static_cast<double>(34 * stream / t));
            CHECK(per_layer(dnn, tensor, stack, Recompute::full) ==
                  static_cast<double>(2 * stream));
            CHECK(per_layer(dnn, sequence, stack, Recompute::full) ==
                  static_cast<double>(2 * stream / t));
          }
        }
      }
    }
  }
}

// 22 B of Megatron: 48 layers, s = 2048, b = 4, h = 6144, t = 8. Korthikanti et al., 2022, figure
// 1: 59.25 GiB without, 9.5625 GiB with sequence parallelism and selective recomputation.
TEST_CASE("activations: published GiB of the 22B") {
  const Transformer dnn = gpt(48, 6144, 64, 51200, 2048);
  constexpr double gib = 1024.0 * 1024 * 1024;
  CHECK(48 * per_layer(dnn, {2048, 4, 8, false}, unfused(), Recompute::none) == 59.25 * gib);
  CHECK(48 * per_layer(dnn, {2048, 4, 8, true}, unfused(), Recompute::selective) == 9.5625 * gib);
}

// Llama with RMSNorm, no dropout, fused attention, h = q = 4096, k = v = 1024, f = 14336; elements
// a token: norm inputs and outputs 4 h, q, k, v, attention output 2 q + 2 k, gate, up, product 3 f:
// 16,384 + 10,240 + 43,008 = 69,632, 2 bytes each; statistics 4 bytes for each of 32 heads.
TEST_CASE("activations: Llama by hand") {
  const Shard one{8192, 1, 1};
  CHECK(per_layer(llama_8b(), one, flash(), Recompute::none) == 8192.0 * (2 * 69'632 + 4 * 32));
  CHECK(per_layer(llama_8b(), one, flash(), Recompute::selective) == 8192.0 * 2 * 69'632);
  CHECK(per_layer(llama_8b(), one, flash(), Recompute::full) == 8192.0 * 2 * 4096);
  // Input, q, v, attention output, gate, last output: 4 h + k + f = 16,384 + 1024 + 14,336.
  CHECK(per_layer(llama_8b(), one, flash(), Recompute::alternate) ==
        8192.0 * (2 * 31'744 + 4 * 32));
  // Eager SwiGLU keeps the activated gate too.
  SoftwareStack eager = flash();
  eager.fused_pointwise = false;
  CHECK(per_layer(llama_8b(), one, eager, Recompute::none) ==
        8192.0 * (2 * (69'632 + 14'336) + 4 * 32));
}

// Without dropout the probabilities are the values' input themselves: 2 bytes a score instead of 5;
// and no masks in front of the residuals: 32 sbh instead of 34.
TEST_CASE("activations: GPT without dropout") {
  Transformer dnn = gpt(4, 512, 8, 51200, 64);
  dnn.dropout = 0;
  CHECK(per_layer(dnn, {64, 2, 1}, unfused(), Recompute::none) ==
        64.0 * 2 * 512 * 32 + 2.0 * 8 * 64 * 64 * 2);
}

// A ReLU's gradient needs its output only, which the next product keeps: 8 sbh less.
TEST_CASE("activations: ReLU keeps no input") {
  Transformer dnn = gpt(4, 512, 8, 51200, 64);
  dnn.activation = Activation::relu;
  CHECK(per_layer(dnn, {64, 2, 1}, unfused(), Recompute::selective) == 64.0 * 2 * 512 * 26);
}

TEST_CASE("activations: ranks of a sequence-parallel group hold one copy together") {
  for (const int tensor : {2, 4, 8}) {
    const double one = per_layer(llama_8b(), {4096, 2, 1}, flash(), Recompute::none);
    CHECK(tensor * per_layer(llama_8b(), {4096, 2, tensor, true}, flash(), Recompute::none) == one);
  }
}

// The embedding's dropout mask: a byte for each of s b h; divided with sequence parallelism. BLOOM
// has no dropout here, but keeps the input of its embedding norm.
TEST_CASE("activations: embedding") {
  const Transformer dnn = gpt(4, 512, 8, 51200, 64);
  const auto mask = [&](const Shard& shard) {
    return activation_bytes(dnn, shard, unfused(), Recompute::none).embedding.value();
  };
  CHECK(mask({64, 2, 4, false}) == 64 * 2 * 512);
  CHECK(mask({64, 2, 4, true}) == 64 * 2 * 128);
  Transformer bloom = dnn;
  bloom.dropout = 0;
  bloom.embedding_norm = true;
  CHECK(activation_bytes(bloom, {64, 2, 1}, unfused(), Recompute::none).embedding.value() ==
        64 * 2 * 512 * 2);
}

// Korthikanti et al., 2022, section 4.3: 4 sbh/t (1 + V/h): norm input and output, fp32 logits.
TEST_CASE("activations: head") {
  const Transformer dnn = gpt(4, 512, 8, 51200, 64);
  CHECK(activation_bytes(dnn, {64, 2, 4, true}, unfused(), Recompute::none).head.value() ==
        4 * 64 * 2 * (512 + 51200) / 4.0);
}

TEST_CASE("activations: recomputation trades kept bytes for temporary ones") {
  for (const SoftwareStack& stack : {flash(), unfused()}) {
    const Shard shard{2048, 2, 4, true};
    const auto none = activation_bytes(llama_8b(), shard, stack, Recompute::none);
    for (const auto recompute : {Recompute::selective, Recompute::full}) {
      const auto less = activation_bytes(llama_8b(), shard, stack, recompute);
      CHECK(less.per_layer < none.per_layer);
      CHECK((less.per_layer + less.transient).value() ==
            approximately((none.per_layer + none.transient).value()));
    }
  }
}

// Each table entry once; the core's are the only ones that selective recomputation drops.
TEST_CASE("saved tensors add up to what is kept") {
  const Transformer dnn = gpt(4, 512, 8, 51200, 64);
  const Shard shard{64, 2, 2, true};
  double all = 0, outside = 0, inputs = 0;
  for (const SavedTensor& tensor : saved_tensors(dnn, shard, unfused())) {
    const double bytes = tensor.elements * tensor.bytes_per_element;
    CHECK(bytes > 0);
    all += bytes;
    if (!tensor.is_attention_core) outside += bytes;
    if (tensor.is_layer_input) inputs += bytes;
  }
  CHECK(all == per_layer(dnn, shard, unfused(), Recompute::none));
  CHECK(outside == per_layer(dnn, shard, unfused(), Recompute::selective));
  CHECK(inputs == per_layer(dnn, shard, unfused(), Recompute::full));
}

}  // namespace sim::dnn
