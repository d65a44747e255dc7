// Which data-parallel collectives a stage issues, and what they wait for.
#include "sim/training/data_plan.h"

#include <doctest/doctest.h>

using namespace sim;
using namespace sim::training;
using collective::Operation;
using plan::Sharding;

namespace {

struct Stage {
  UnitCosts layer, empty;
  std::vector<std::vector<Unit>> units;
  plan::Plan plan;
  dnn::SoftwareStack stack;

  Stage(int layers, int micro_batches, Sharding sharding) {
    layer.held.front() = {.gradients = 100, .parameters = 50};
    units.resize(1);
    units[0].push_back({&empty, "embedding"});
    for (int l = 0; l < layers; ++l) units[0].push_back({&layer, "layer"});
    plan.data = 2;
    plan.micro_batch = 1;
    plan.global_batch = std::int64_t{2} * micro_batches;
    plan.sharding = sharding;
    stack.overlaps_gradient_reduction = true;
  }
  Stage(const Stage&) = delete;
  DataPlan run(int rounds = 1) const {
    return data_plan(plan, stack, plan::schedule(plan, rounds), 0, units);
  }
};

}  // namespace

TEST_CASE("data plan: one replica -> no traffic") {
  Stage stage(2, 1, Sharding::none);
  stage.plan.data = 1;
  CHECK(stage.run().operations.empty());
}

TEST_CASE("data plan: buckets of two layers of five -> all-reduces of 200, 200 and 100 bytes") {
  Stage stage(5, 3, Sharding::none);
  stage.stack.bucket = Bytes(150);
  const DataPlan plan = stage.run();
  REQUIRE(plan.operations.size() == 3);
  CHECK(plan.operations[0].bytes == 200);
  CHECK(plan.operations[1].bytes == 200);
  CHECK(plan.operations[2].bytes == 100);
  for (const DataOperation& o : plan.operations) CHECK(o.operation == Operation::all_reduce);
  // Only the last backward pass (the sixth of F B F B F B) raises buckets; the update follows.
  for (const Hook& hook : plan.hooks) CHECK(hook.pass == 5);
  CHECK(plan.is_concurrent == std::vector<bool>{false, false, false, false, false, true, true});
  CHECK(plan.optimizer_waits == std::vector<std::optional<int>>{2});
}

TEST_CASE("data plan: gradients together are the same bytes whatever the bucket") {
  for (const double bucket : {0.0, 1.0, 150.0, 250.0, 1e9}) {
    CAPTURE(bucket);
    Stage stage(7, 2, Sharding::zero1);
    stage.stack.bucket = Bytes(bucket);
    double reduced = 0, gathered = 0;
    for (const DataOperation& o : stage.run().operations) {
      (o.operation == Operation::reduce_scatter ? reduced : gathered) += o.bytes;
    }
    CHECK(reduced == 700);
    CHECK(gathered == 350);
  }
}

TEST_CASE("data plan: ZeRO-2 scatters after every micro-batch") {
  Stage stage(2, 3, Sharding::zero2);
  int scatters = 0;
  for (const DataOperation& o : stage.run().operations) {
    scatters += o.operation == Operation::reduce_scatter;
  }
  CHECK(scatters == 3);
}

TEST_CASE("data plan: ZeRO-3, 2 layers -> gathers f0 f1 b0 (b1 is still whole), scatters b1 b0") {
  Stage stage(2, 1, Sharding::zero3);
  const DataPlan plan = stage.run();
  REQUIRE(plan.operations.size() == 5);
  CHECK(plan.operations[0].operation == Operation::all_gather);
  CHECK(plan.operations[1].operation == Operation::all_gather);
  CHECK(plan.operations[2].operation == Operation::all_gather);
  CHECK(plan.operations[2].event == 1);  // when the forward of layer 1 has ended
  CHECK(plan.operations[3].operation == Operation::reduce_scatter);
  CHECK(plan.operations[4].operation == Operation::reduce_scatter);
  CHECK(plan.optimizer_waits == std::vector<std::optional<int>>{4});
}

TEST_CASE("data plan: rounds without a flush reduce and gather in turn, each for its update") {
  for (const bool overlaps : {false, true}) {
    Stage stage(2, 3, Sharding::zero1);
    stage.stack.overlaps_parameter_gather = overlaps;
    const DataPlan plan = stage.run(3);
    int reduced = 0;
    for (std::size_t i = 0; i < plan.operations.size(); ++i) {
      const DataOperation& o = plan.operations[i];
      if (o.operation == Operation::reduce_scatter) {
        ++reduced;
        continue;
      }
      // Parameters come after the gradients of the round whose update has written them.
      const int round = o.update ? *o.update + 1 : 0;
      CHECK(reduced == round);
    }
    CHECK(reduced == 3);
    for (std::size_t round = 0; round < 3; ++round) {
      REQUIRE(plan.optimizer_waits[round]);
      const auto at = static_cast<std::size_t>(*plan.optimizer_waits[round]);
      CHECK(plan.operations[at].operation == Operation::reduce_scatter);
    }
  }
}
