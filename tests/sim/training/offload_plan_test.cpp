// Which copies between devices and hosts a stage issues, and what they wait for.
#include "sim/training/offload_plan.h"

#include <doctest/doctest.h>

#include "sim/training/data_plan.h"

using namespace sim;
using namespace sim::training;
using After = OffloadPlan::Out::After;
using plan::Sharding;

namespace {

// Layers with 400 bytes of fp32 gradients (100 parameters, 200 bytes) and 50 bytes of activations.
struct Stage {
  UnitCosts layer, empty;
  std::vector<std::vector<Unit>> units{1};
  Job job;

  Stage(int layers, int micro_batches, int replicas, Sharding sharding) {
    layer.held.front() = {.gradients = 400, .parameters = 200};
    layer.activations = 50;
    units[0].push_back({&empty, "embedding"});
    for (int l = 0; l < layers; ++l) units[0].push_back({&layer, "layer"});
    job.plan.data = replicas;
    job.plan.global_batch = std::int64_t{replicas} * micro_batches;
    job.plan.sharding = sharding;
    job.stack.prefetch_layers = 1;
  }
  Stage(const Stage&) = delete;

  OffloadPlan run() const {
    const plan::Schedule schedule = plan::schedule(job.plan);
    StageDataPlan data;
    for (const Sharers sharers : {Sharers::data, Sharers::expert_data}) {
      data.by_sharers.push_back(data_plan(job.plan, job.stack, schedule, 0, units, sharers));
    }
    data.copies = copy_plan(job.plan, data.of(Sharers::data));
    return offload_plan(job, schedule, 0, units, data);
  }
};

}  // namespace

TEST_CASE("offload plan: nothing is offloaded -> no copies") {
  const OffloadPlan plan = Stage(2, 1, 1, Sharding::none).run();
  CHECK(plan.is_empty());
  CHECK(plan.events == 0);
  CHECK_FALSE(plan.is_concurrent(0));
}

TEST_CASE("offload plan: one replica -> a copy a layer behind the last backward pass") {
  Stage stage(2, 2, 1, Sharding::none);
  stage.job.plan.offload.optimizer = 1;
  const OffloadPlan plan = stage.run();
  // F B F B: the fourth pass leaves gradients; its units are layer 1, layer 0, embedding.
  REQUIRE(plan.hooks.size() == 2);
  for (int i = 0; i < 2; ++i) {
    const auto index = static_cast<std::size_t>(i);
    CHECK(plan.hooks[index].pass == 3);
    CHECK(plan.hooks[index].unit == i);
    CHECK(plan.hooks[index].event == i);
    CHECK(plan.out[index].bytes == 400);
    CHECK(plan.out[index].after == After::compute);
    CHECK(plan.out[index].milestone == i);
    CHECK(plan.steps[index] == 100 * (24 + 4 + 2));
    CHECK(plan.in[index].bytes == 200);
    CHECK(plan.in[index].step == i);
  }
  CHECK(plan.last_gradient == 1);
  CHECK_FALSE(plan.is_concurrent(2));
  CHECK(plan.is_concurrent(3));
}

TEST_CASE("offload plan: with ZeRO-3 the last scatters are copied, a rank's share of them") {
  Stage stage(2, 2, 4, Sharding::zero3);
  stage.job.plan.offload.optimizer = 0.5;
  const OffloadPlan plan = stage.run();
  // Two layers scattered for each of two micro-batches; 400 / 4 / 2 of each are copied.
  REQUIRE(plan.out.size() == 2);
  for (const OffloadPlan::Out& copy : plan.out) {
    CHECK(copy.bytes == 50);
    CHECK(copy.after == After::data);
  }
  CHECK(plan.out[0].milestone < plan.out[1].milestone);
  CHECK(plan.hooks.empty());
  CHECK(plan.is_concurrent(3));
}

TEST_CASE("offload plan: copies of a sharded model are added up first") {
  Stage stage(3, 1, 4, Sharding::zero3);
  stage.job.plan.shard = 2;
  stage.job.plan.offload.optimizer = 1;
  const OffloadPlan plan = stage.run();
  REQUIRE(plan.out.size() == 3);
  for (int i = 0; i < 3; ++i) {
    CHECK(plan.out[static_cast<std::size_t>(i)].after == After::copies);
    CHECK(plan.out[static_cast<std::size_t>(i)].milestone == i);
    CHECK(plan.out[static_cast<std::size_t>(i)].bytes == 200);
  }
}

TEST_CASE("offload plan: parameters updated on hosts are those of the share, whatever the bucket") {
  for (const double bucket : {0.0, 1.0, 500.0, 900.0}) {
    for (const Sharding sharding : {Sharding::none, Sharding::zero1, Sharding::zero2}) {
      CAPTURE(bucket);
      Stage stage(7, 3, 2, sharding);
      stage.job.stack.bucket = Bytes(bucket);
      stage.job.plan.offload.optimizer = 0.25;
      double bytes = 0, steps = 0;
      const OffloadPlan plan = stage.run();
      for (const OffloadPlan::Out& copy : plan.out) bytes += copy.bytes;
      for (const double step : plan.steps) steps += step;
      const double expected = 7 * 400 * 0.25 / (sharding == Sharding::none ? 1 : 2);
      CHECK(bytes == doctest::Approx(expected).epsilon(1e-12));
      CHECK(steps == doctest::Approx(expected / 4 * 30).epsilon(1e-12));
    }
  }
}

TEST_CASE("offload plan: activations go and come layer by layer, so many at once") {
  Stage stage(3, 1, 1, Sharding::none);
  stage.job.plan.offload.activations = 1;
  stage.job.plan.offload.buffers = 2;
  const OffloadPlan plan = stage.run();
  REQUIRE(plan.out.size() == 3);
  REQUIRE(plan.in.size() == 3);
  CHECK(plan.steps.empty());
  CHECK_FALSE(plan.last_gradient);
  // Forward: embedding, layers 0, 1, 2; the third waits for the first copy. Events 0 to 2.
  REQUIRE(plan.hooks.size() == 6);
  CHECK_FALSE(plan.hooks[1].out);
  CHECK(plan.hooks[2].pass == 0);
  CHECK(plan.hooks[2].unit == 3);
  CHECK(plan.hooks[2].out == 0);
  // Backward: layers 2, 1, 0 at units 0 to 2, events 3 to 5; each comes back when it has gone, the
  // third when the first place is free again.
  for (int i = 0; i < 3; ++i) {
    const auto index = static_cast<std::size_t>(i);
    CHECK(plan.in[index].out == 2 - i);
    CHECK(plan.hooks[3 + index].in == i);
    CHECK(plan.hooks[3 + index].unit == i);
  }
  CHECK_FALSE(plan.in[1].event);
  CHECK(plan.in[2].event == 3);
  CHECK(plan.is_concurrent(0));
}

TEST_CASE("offload plan: a share of the layers, from the first, rounded up") {
  Stage stage(5, 1, 1, Sharding::none);
  stage.job.plan.offload.activations = 0.5;
  const OffloadPlan plan = stage.run();
  REQUIRE(plan.out.size() == 3);
  CHECK(plan.hooks[0].unit == 1);
  CHECK(plan.hooks[2].unit == 3);
  // Backward units are layers 4 to 0, then the embedding.
  CHECK(plan.hooks[3].unit == 2);
}
