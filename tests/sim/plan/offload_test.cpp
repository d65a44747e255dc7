// What plans keep in host memory, and which cannot.
#include "sim/plan/offload.h"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/plan/memory.h"
#include "tests/sim/plan/examples.h"

using namespace sim;
using namespace sim::plan;

namespace {

// 32 layers on one stage, full recomputation: a layer keeps 2 bytes x 4096 x 8192 = 64 MiB.
Plan llama_plan() {
  Plan plan;
  plan.data = 8;
  plan.sharding = Sharding::zero3;
  plan.sequence = 8192, plan.global_batch = 8;
  plan.recompute = dnn::Recompute::full;
  return plan;
}

MemoryBreakdown llama_memory(const Plan& plan) {
  return memory(plan, llama_8b(), dnn::SoftwareStack{}, 0);
}

constexpr double layer_input = 67108864;

}  // namespace

TEST_CASE("offload: layers of a share, rounded up") {
  Offload offload;
  CHECK(offload.layers_of(32) == 0);
  offload.activations = 0.7;
  CHECK(offload.layers_of(10) == 7);
  CHECK(offload.layers_of(11) == 8);
  offload.activations = 1;
  CHECK(offload.layers_of(11) == 11);
}

TEST_CASE("offload: the optimizer's bytes move from the device to the host") {
  Plan plan = llama_plan();
  const MemoryBreakdown before = llama_memory(plan);
  CHECK(before.host.total() == Bytes(0));
  plan.offload.optimizer = 1;
  const MemoryBreakdown all = llama_memory(plan);
  CHECK(all.optimizer == Bytes(0));
  CHECK(all.host.optimizer == before.optimizer);
  CHECK(all.weights == before.weights);
  CHECK(all.gradients == before.gradients);
  CHECK(all.host.gradients == before.gradients);
  CHECK(all.host.parameters == before.weights);
  // A quarter: 12 bytes of 3 parameters in 4 stay, to a byte of rounding up.
  plan.offload.optimizer = 0.25;
  const MemoryBreakdown quarter = llama_memory(plan);
  CHECK(std::abs((quarter.optimizer + quarter.host.optimizer - before.optimizer).value()) <= 1);
  CHECK(quarter.host.optimizer.value() == doctest::Approx(before.optimizer.value() / 4));
}

TEST_CASE("offload: activations on the device are those that stay or are on their way") {
  Plan plan = llama_plan();
  const MemoryBreakdown before = llama_memory(plan);
  plan.offload.activations = 1;
  plan.offload.buffers = 2;
  const MemoryBreakdown all = llama_memory(plan);
  CHECK(all.host.activations.value() == 32 * layer_input);
  // 32 layers leave, two each way remain.
  CHECK((before.activations - all.activations).value() == 28 * layer_input);
  plan.offload.activations = 0.5;
  plan.offload.buffers = 1;
  const MemoryBreakdown half = llama_memory(plan);
  CHECK(half.host.activations.value() == 16 * layer_input);
  CHECK((before.activations - half.activations).value() == 14 * layer_input);
  // More buffers than layers change nothing.
  plan.offload.buffers = 100;
  CHECK(llama_memory(plan).activations == before.activations);
}

TEST_CASE("offload: schedules that cannot are refused with the key") {
  Plan plan = llama_plan();
  CHECK(offload_problems(plan).empty());
  plan.offload.optimizer = plan.offload.activations = 1;
  CHECK(offload_problems(plan).empty());
  plan.schedule = ScheduleKind::zb_h1;
  REQUIRE(offload_problems(plan).size() == 1);
  CHECK(offload_problems(plan).front().field == "plan.offload.activations");
  plan.schedule = ScheduleKind::double_buffered;
  REQUIRE(offload_problems(plan).size() == 1);
  CHECK(offload_problems(plan).front().field == "plan.offload.optimizer");
  plan.schedule = ScheduleKind::dual_pipe;
  CHECK(offload_problems(plan).size() == 2);
  plan.schedule = ScheduleKind::one_f_one_b;
  plan.routing.distribution = Routing::Distribution::zipf;
  plan.routing.exponent = 1;
  REQUIRE(offload_problems(plan).size() == 1);
  CHECK(offload_problems(plan).front().other_field == "plan.routing");
}
