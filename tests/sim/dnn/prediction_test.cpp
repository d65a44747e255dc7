// Multi-token prediction: a projection, a layer and the shared head for one more token.
#include <doctest/doctest.h>

#include "tests/approximately.h"
#include "tests/sim/dnn/shapes.h"

namespace sim::dnn {
namespace {

double products(const std::vector<Operator>& operators) {
  return gemm_flops(operators) + flops_of(operators, OperatorKind::grouped_gemm);
}

}  // namespace

// Beside a layer and a head: 2 * 7168 inputs and 7168 outputs for each of 1024 tokens.
TEST_CASE("prediction: work of a module by hand") {
  const Transformer dnn = deepseek_v3();
  const Shard shard{1024, 1, 1};
  const auto module = prediction_operators(dnn, shard, flash(), Recompute::none);
  const auto layer = layer_operators(dnn, shard, flash(), Recompute::none, prediction_kind(dnn));
  const auto head = head_operators(dnn, shard, flash());
  const double projection = 2.0 * 1024 * 2 * 7168 * 7168;
  CHECK(products(module.forward) == products(layer.forward) + products(head.forward) + projection);
  CHECK(products(module.backward) ==
        products(layer.backward) + products(head.backward) + 2 * projection);
  CHECK(collectives(module.forward).empty());
}

TEST_CASE("prediction: order, and what is recomputed") {
  const Transformer dnn = deepseek_v3();
  const auto module = prediction_operators(dnn, {1024, 1, 2}, flash(), Recompute::full);
  CHECK(module.forward.front().name == "embedding lookup");
  CHECK(module.forward.back().name == "exponent sum all-reduce");
  CHECK(module.backward.front().name == "cross entropy gradient");
  CHECK(module.backward.back().name == "embedding table gradient");
  const auto layer =
      layer_operators(dnn, {1024, 1, 2}, flash(), Recompute::none, prediction_kind(dnn));
  std::size_t again = 0;
  for (const Operator& o : module.backward) again += o.is_recompute;
  CHECK(again == layer.forward.size());
  CHECK(named(module.forward, "prediction projection all-gather")->bytes.value() ==
        1024.0 * 7168 * 2);
}

// Three norms and 2 h^2; the projection is split by columns.
TEST_CASE("prediction: parameters of a rank") {
  const Transformer dnn = deepseek_v3();
  CHECK(shard_parameters(dnn, {1024, 1, 1}, flash(), {true}).prediction ==
        3 * 7168 + 2.0 * 7168 * 7168);
  CHECK(shard_parameters(dnn, {1024, 1, 4}, flash(), {true}).prediction ==
        3 * 7168 + 2.0 * 7168 * 7168 / 4);
  CHECK(shard_parameters(llama_8b(), {1024, 1, 1}, flash()).prediction == 0);
}

// Operators execute what the formula counts, but for norms and the router's bias. 4096 tokens.
TEST_CASE("prediction: model FLOPs are those of the operators") {
  const Transformer dnn = deepseek_v3();
  const Shard shard{4096, 1, 1};
  const auto work = [](const LayerOperators& layer) {
    return products(layer.forward) + products(layer.backward);
  };
  const auto dense = layer_operators(dnn, shard, flash(), Recompute::none, {false});
  const auto sparse = layer_operators(dnn, shard, flash(), Recompute::none, {true});
  const double executed = 3 * work(dense) + 58 * work(sparse) +
                          work(head_operators(dnn, shard, flash())) +
                          work(prediction_operators(dnn, shard, flash(), Recompute::none));
  // 62 layers of 16,384 in norms, 59 router biases, two final norms and two of the module.
  const double rest = 62 * 16'384 + 59 * 256 + 4 * 7168;
  const double attention = 62 * 12.0 * 128 * 160 * 4096 / 2;
  CHECK(executed + 4096 * 6 * rest ==
        approximately(4096 * (model_flops_per_token(dnn, 4096, true) - attention)));
}

}  // namespace sim::dnn
