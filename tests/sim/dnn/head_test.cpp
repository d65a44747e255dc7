// Embedding, head, optimizer, parameters of a rank, model FLOPs.
#include <doctest/doctest.h>

#include "tests/approximately.h"
#include "tests/sim/dnn/shapes.h"

namespace sim::dnn {

// 50,257 words padded to multiples of 128 * 8 = 1,024: 50 of them are 51,200, 6,400 on each rank.
TEST_CASE("head: the vocabulary is padded and split") {
  SoftwareStack stack = unfused();
  stack.vocabulary_multiple = 128;
  const auto head = head_operators(gpt(12, 768, 12, 50257, 1024), {1024, 2, 8, false}, stack);
  const Operator* logits = named(head.forward, "output logits");
  REQUIRE(logits != nullptr);
  CHECK(logits->m == 2048);
  CHECK(logits->n == 6400);
  CHECK(logits->k == 768);
  CHECK(gemm_flops(head.backward) == 2 * gemm_flops(head.forward));
}

// 2048 tokens * 1000 words * 18 bytes.
TEST_CASE("head: the loss and its gradient move logit_bytes for each logit") {
  const auto head = head_operators(llama(1, 64, 4, 4, 128, 1000), {1024, 2, 1}, flash());
  const double forward = named(head.forward, "cross entropy")->bytes.value();
  const double backward = named(head.backward, "cross entropy gradient")->bytes.value();
  CHECK(forward + backward == approximately(2048 * 1000 * 18.0));
}

TEST_CASE("head: collectives of a split vocabulary") {
  const Transformer dnn = llama(1, 64, 4, 4, 128, 1000);
  const auto split = head_operators(dnn, {1024, 2, 4, true}, flash());
  const std::vector<std::string> forward = {"final norm",    "output logits input all-gather",
                                            "output logits", "logit maximum all-reduce",
                                            "cross entropy", "exponent sum all-reduce"};
  CHECK(names(split.forward) == forward);
  CHECK(named(split.forward, "logit maximum all-reduce")->bytes.value() == 4 * 2048);
  const std::vector<std::string> backward = {
      "cross entropy gradient",        "output logits saved input all-gather",
      "output logits input gradient",  "output logits input gradient reduce-scatter",
      "output logits weight gradient", "final norm gradient"};
  CHECK(names(split.backward) == backward);
  for (const auto& list : {head_operators(dnn, {1024, 2, 1}, flash()).forward,
                           head_operators(dnn, {1024, 2, 1}, flash()).backward}) {
    for (const Operator& o : list) CHECK(o.kind != OperatorKind::collective);
  }
}

// 2048 tokens of 64: 2048 * 64 * 2 bytes = 256 KiB.
TEST_CASE("embedding: one sum over the ranks, scattered with sequence parallelism") {
  const Transformer rotary = llama(1, 64, 4, 4, 128, 1000);
  const auto plain = embedding_operators(rotary, {1024, 2, 4, false}, flash());
  const Operator* sum = named(plain.forward, "embedding all-reduce");
  REQUIRE(sum != nullptr);
  CHECK(sum->bytes.value() == 262'144);
  const auto scattered = embedding_operators(rotary, {1024, 2, 4, true}, flash());
  CHECK(named(scattered.forward, "embedding reduce-scatter") != nullptr);
  CHECK(named(scattered.backward, "embedding gradient all-gather")->bytes.value() == 262'144);
  // Learned positions are added to whole sequences.
  const auto learned = embedding_operators(gpt(1, 64, 4, 1000, 1024), {1024, 2, 4, true}, flash());
  CHECK(named(learned.forward, "embedding all-reduce") != nullptr);
  CHECK(named(learned.forward, "position embedding") != nullptr);
  for (const Operator& o : embedding_operators(rotary, {1024, 2, 1}, flash()).backward) {
    CHECK(o.kind != OperatorKind::collective);
  }
}

// 1000 rows of 64 on one rank: cleared (2), read (2), added into fp32 (8).
TEST_CASE("embedding: its gradient passes over the whole table") {
  const auto one = embedding_operators(llama(1, 64, 4, 4, 128, 1000), {1024, 2, 1}, flash());
  CHECK(named(one.backward, "embedding table gradient")->bytes.value() == 64'000 * 12);
}

TEST_CASE("optimizer: bytes of each parameter; nothing for none") {
  SoftwareStack stack;
  const auto step = optimizer_operators(1e9, stack);
  REQUIRE(step.size() == 1);
  CHECK(step[0].bytes.value() == 34e9);
  CHECK(step[0].kernels == 48);  // 1e9 / 20,971,520 = 47.7
  CHECK(optimizer_operators(0, stack).empty());
}

TEST_CASE("parameters of a rank: one rank holds them all") {
  Transformer narrow = gpt(24, 1024, 16, 50272, 2050);
  narrow.embedding_size = 512;
  Transformer bloom = gpt(70, 14336, 112, 250880, 0);
  bloom.position = Position::alibi;
  bloom.embedding_norm = true;
  Transformer biased = llama_8b();
  biased.head_bias = biased.query_key_norm = biased.sandwich_norm = true;
  for (const Transformer& dnn :
       {llama_8b(), gpt(12, 768, 12, 50257, 1024), narrow, bloom, biased}) {
    const auto share = shard_parameters(dnn, {1024, 1, 1}, flash());
    CHECK(share.layer == static_cast<double>(layer_parameters(dnn)));
    CHECK(share.embedding == static_cast<double>(embedding_parameters(dnn)));
    CHECK(share.head == static_cast<double>(head_parameters(dnn)));
  }
}

// GPT, h = 128: whole on every rank are the norms (4 h), the biases behind the row-parallel
// products (2 h) and, of the embedding, the positions. All else is divided.
TEST_CASE("parameters of a rank: ranks together exceed the total by what is repeated") {
  const Transformer dnn = gpt(2, 128, 8, 1024, 64);
  for (const int tensor : {2, 4, 8}) {
    CAPTURE(tensor);
    const auto share = shard_parameters(dnn, {1024, 1, tensor}, flash());
    CHECK(tensor * share.layer ==
          static_cast<double>(layer_parameters(dnn)) + (tensor - 1) * 6 * 128);
    CHECK(tensor * share.embedding ==
          static_cast<double>(embedding_parameters(dnn)) + (tensor - 1) * 64 * 128);
    CHECK(tensor * share.head == static_cast<double>(head_parameters(dnn)) + (tensor - 1) * 256);
  }
}

// Llama-3.1-8B without its input table: 8,030,261,248 - 525,336,576 = 7,504,924,672, six FLOPs
// each; 12 * 32 * 4096 * 8192 = 12,884,901,888 for attention.
TEST_CASE("model FLOPs per token") {
  CHECK(model_flops_per_token(llama_8b(), 8192, false) == 45'029'548'032.0 + 12'884'901'888.0);
  CHECK(model_flops_per_token(llama_8b(), 8192, true) == 45'029'548'032.0 + 6'442'450'944.0);
  // A tied table is the head's: 124,439,808 less 1024 positions of 768.
  CHECK(model_flops_per_token(gpt(12, 768, 12, 50257, 1024), 1024, false) ==
        6.0 * (124'439'808 - 786'432) + 12.0 * 12 * 768 * 1024);
}

// What the operators execute is what the formula counts, but for norms and biases: of Llama these
// are 65 rows of 4096 out of 7.5e9, and 6 FLOPs each.
TEST_CASE("model FLOPs are those of the operators") {
  const Transformer dnn = llama_8b();
  const Shard shard{8192, 1, 1};
  const auto layer = layer_operators(dnn, shard, unfused(), Recompute::none);
  const auto head = head_operators(dnn, shard, unfused());
  const double executed = 32 * (gemm_flops(layer.forward) + gemm_flops(layer.backward)) +
                          gemm_flops(head.forward) + gemm_flops(head.backward);
  CHECK(executed + 8192.0 * 6 * 65 * 4096 == 8192 * model_flops_per_token(dnn, 8192, false));
}

}  // namespace sim::dnn
