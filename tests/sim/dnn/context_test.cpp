// Context parallelism: exchanges and the work of each rank.
#include <doctest/doctest.h>

#include "tests/approximately.h"
#include "tests/sim/dnn/shapes.h"

namespace sim::dnn {
namespace {

constexpr ContextKind kinds[] = {ContextKind::ring, ContextKind::ulysses, ContextKind::all_gather};

Shard cut(std::int64_t sequence, int tensor, int context, ContextKind kind) {
  Shard shard{sequence, 2, tensor};
  shard.context = context;
  shard.context_kind = kind;
  return shard;
}

LayerOperators layer_of(const Transformer& dnn, const Shard& shard) {
  return layer_operators(dnn, shard, flash(), Recompute::none, {});
}

// FLOPs by the lengths that a timing model is asked about: causal counts align at the end.
double flops_of_shape(const Operator& o) {
  const auto queries = static_cast<double>(o.query_length),
             keys = static_cast<double>(o.key_length);
  const double pairs = o.causal ? queries * keys - queries * queries / 2 : queries * keys;
  return 4 * static_cast<double>(o.sequences * o.query_heads * o.head_size) * pairs;
}

}  // namespace

TEST_CASE("context: FLOPs of all ranks are those of one, whatever the kind") {
  for (const bool is_causal : {true, false}) {
    Transformer dnn = llama_8b();
    dnn.causal = is_causal;
    for (const int tensor : {1, 2}) {
      const auto whole = layer_of(dnn, cut(4096, tensor, 1, ContextKind::ring));
      for (const int context : {2, 4}) {
        for (const ContextKind kind : kinds) {
          CAPTURE(context);
          const auto part = layer_of(dnn, cut(4096, tensor, context, kind));
          for (const auto what : {OperatorKind::attention, OperatorKind::gemm}) {
            CHECK(context * flops_of(part.forward, what) == flops_of(whole.forward, what));
            CHECK(context * flops_of(part.backward, what) == flops_of(whole.backward, what));
          }
        }
      }
    }
  }
}

TEST_CASE("context: the shapes of the kernels hold the work that is counted") {
  for (const ContextKind kind : kinds) {
    for (const int context : {1, 2, 4, 8}) {
      const auto layer = layer_of(llama_8b(), cut(8192, 1, context, kind));
      for (const Operator& o : of_kind(layer.forward, OperatorKind::attention)) {
        CHECK(flops_of_shape(o) == o.flops.value());
      }
    }
  }
}

// 4 ranks of 1024 tokens of 2 sequences: keys and values 2 * 1024 * 2 * 8 * 128 * 2 bytes = 8 MiB,
// three times each way; the rank's own part is a causal square, in others half of the keys are
// seen.
TEST_CASE("context: a ring sends keys beside the attention of those that it has") {
  const auto layer = layer_of(llama_8b(), cut(4096, 1, 4, ContextKind::ring));
  const auto exchanges = collectives(layer.forward);
  CHECK(exchanges.size() == 3);
  for (const Operator& o : exchanges) {
    CHECK(o.collective == Collective::send_receive);
    CHECK(o.group == RankGroup::context);
    CHECK(o.overlapped == 1);
    CHECK(o.bytes.value() == 8.0 * 1024 * 1024);
  }
  const auto steps = of_kind(layer.forward, OperatorKind::attention);
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].causal);
  CHECK(steps[0].key_length == 1024);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK_FALSE(steps[i].causal);
    CHECK(steps[i].query_length == 1024);
    CHECK(steps[i].key_length == 512);
  }
  const auto back = collectives(layer.backward);
  CHECK(back.size() == 6);
  for (const Operator& o : back) CHECK(o.overlapped == 1);
  // The last step is the rank's own part: its gradients of keys need not travel.
  CHECK(of_kind(layer.backward, OperatorKind::attention).back().causal);
  // Four parts of 2 * 1024 * 4096 elements read, one written.
  CHECK(named(layer.forward, "attention merge")->bytes.value() == 5.0 * 2 * 1024 * 4096 * 2);
}

// 2 * 1024 tokens of (32 + 8 + 8) heads of 128, 2 bytes; the output of 32 heads.
TEST_CASE("context: ulysses trades tokens for heads") {
  const auto layer = layer_of(llama_8b(), cut(4096, 1, 4, ContextKind::ulysses));
  const Operator* attention = named(layer.forward, "attention");
  REQUIRE(attention != nullptr);
  CHECK(attention->query_heads == 8);
  CHECK(attention->kv_heads == 2);
  CHECK(attention->query_length == 4096);
  CHECK(attention->key_length == 4096);
  const auto forward = collectives(layer.forward), backward = collectives(layer.backward);
  REQUIRE(forward.size() == 2);
  REQUIRE(backward.size() == 2);
  CHECK(forward[0].bytes.value() == 2048.0 * 48 * 128 * 2);
  CHECK(forward[1].bytes.value() == 2048.0 * 32 * 128 * 2);
  CHECK(backward[0].bytes.value() == forward[1].bytes.value());
  CHECK(backward[1].bytes.value() == forward[0].bytes.value());
  for (const Operator& o : forward) {
    CHECK(o.collective == Collective::all_to_all);
    CHECK(o.group == RankGroup::context);
  }
}

// Keys and values of 2 sequences of 4096: 2 * 4096 * 2 * 8 * 128 * 2 bytes = 32 MiB.
TEST_CASE("context: all keys are gathered, and their gradients scattered") {
  const auto layer = layer_of(llama_8b(), cut(4096, 1, 4, ContextKind::all_gather));
  const auto forward = collectives(layer.forward), backward = collectives(layer.backward);
  REQUIRE(forward.size() == 1);
  REQUIRE(backward.size() == 2);
  CHECK(forward[0].collective == Collective::all_gather);
  CHECK(backward[0].collective == Collective::all_gather);
  CHECK(backward[1].collective == Collective::reduce_scatter);
  for (const Operator& o : backward) CHECK(o.bytes.value() == 32.0 * 1024 * 1024);
  const Operator* attention = named(layer.forward, "attention");
  CHECK(attention->query_length == 1024);
  // Queries at both ends of the sequence see 2560 keys in a causal count: (4096 + 1024) / 2.
  CHECK(attention->key_length == 2560);
}

// gpt-oss, 4096 tokens, 64 heads of 64: 128 * 4096 - 128^2 / 2 = 516,096 pairs instead of
// 8,388,608.
TEST_CASE("span: a sliding window computes its band") {
  const Transformer dnn = gpt_oss_20b();
  const LayerKind narrow = layer_kind(dnn, 0);
  const auto layer = layer_operators(dnn, {4096, 1, 1}, flash(), Recompute::none, narrow);
  const Operator* attention = named(layer.forward, "attention");
  REQUIRE(attention != nullptr);
  CHECK(attention->flops.value() == 4.0 * 64 * 64 * 516'096);
  CHECK_FALSE(attention->causal);
  CHECK(attention->key_length == 126);
  CHECK(flops_of_shape(*attention) == attention->flops.value());
  const auto wide = layer_operators(dnn, {4096, 1, 1}, flash(), Recompute::none, {true});
  CHECK(named(wide.forward, "attention")->flops.value() == 4.0 * 64 * 64 * 8'388'608);
  // A window that is no narrower than the sequence is none.
  const auto small = layer_operators(dnn, {128, 1, 1}, flash(), Recompute::none, narrow);
  CHECK(named(small.forward, "attention")->causal);
}

// 32768 tokens in 4 chunks: four causal squares of 8192.
TEST_CASE("span: chunks are sequences of their own") {
  const Transformer dnn = llama_4_maverick();
  const auto layer =
      layer_operators(dnn, {32768, 1, 1}, flash(), Recompute::none, layer_kind(dnn, 0));
  const Operator* attention = named(layer.forward, "attention");
  REQUIRE(attention != nullptr);
  CHECK(attention->sequences == 4);
  CHECK(attention->query_length == 8192);
  CHECK(attention->flops.value() == 4.0 * 40 * 128 * 4 * 8192 * 4096);
  CHECK(flops_of_shape(*attention) == attention->flops.value());
  for (const ContextKind kind : {ContextKind::ulysses, ContextKind::all_gather}) {
    const auto part =
        layer_operators(dnn, cut(32768, 1, 4, kind), flash(), Recompute::none, layer_kind(dnn, 0));
    // Two sequences on four ranks.
    CHECK(4 * flops_of(part.forward, OperatorKind::attention) == 2 * attention->flops.value());
  }
}

TEST_CASE("span: layers that see everything have no positions") {
  const Transformer dnn = llama_4_maverick();
  const auto layer = [&](int index) {
    return layer_operators(dnn, {8192, 1, 1}, flash(), Recompute::none, layer_kind(dnn, index));
  };
  CHECK(named(layer(0).forward, "rotary") != nullptr);
  CHECK(named(layer(3).forward, "rotary") == nullptr);
  CHECK(named(layer(3).backward, "rotary gradient") == nullptr);
}

TEST_CASE("context: what cannot be cut, and why") {
  const Transformer dnn = llama_8b();
  CHECK_FALSE(context_obstacle(dnn, cut(4096, 1, 8, ContextKind::ulysses)));
  CHECK(*context_obstacle(dnn, cut(4096, 2, 8, ContextKind::ulysses)) ==
        "context 8 does not divide the 4 key and value heads of a tensor rank");
  CHECK(*context_obstacle(dnn, cut(4096, 1, 3, ContextKind::ulysses)) ==
        "context 3 does not divide the 32 query heads of a tensor rank");
  CHECK(*context_obstacle(dnn, cut(4098, 1, 2, ContextKind::ring)) ==
        "a causal ring of 2 ranks cuts sequences into 4 equal parts, which 4098 tokens are not");
  CHECK(context_obstacle(gpt_oss_20b(), cut(4096, 1, 2, ContextKind::ring)));
  CHECK_FALSE(context_obstacle(gpt_oss_20b(), cut(4096, 1, 2, ContextKind::all_gather)));
  CHECK_FALSE(context_obstacle(gpt_oss_20b(), cut(4096, 1, 1, ContextKind::ring)));
}

// Scores of parts cannot be merged without their statistics.
TEST_CASE("context: unfused attention gathers keys") {
  const auto layer =
      layer_operators(llama_8b(), cut(1024, 2, 4, ContextKind::ring), unfused(), Recompute::none);
  CHECK(named(layer.forward, "key and value all-gather") != nullptr);
  CHECK(named(layer.forward, "attention scores")->m == 256);
  CHECK(named(layer.forward, "attention scores")->n == 1024);
}

}  // namespace sim::dnn
