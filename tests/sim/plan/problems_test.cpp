// Every rule on a plan, with its whole message.
#include <fmt/format.h>

#include <limits>

#include "sim/plan/plan.h"
#include "tests/approximately.h"
#include "tests/sim/plan/examples.h"

using namespace sim;
using namespace sim::plan;

namespace {

// Of Llama-3.1-8B on 128 devices.
Plan fitting_plan() {
  Plan plan;
  plan.tensor = 8, plan.stages = 4, plan.data = 4;
  plan.sequence = 8192, plan.global_batch = 64;
  return plan;
}

std::string text(const Plan& plan, int devices = 128) {
  std::string result;
  for (const Problem& problem : problems(plan, llama_8b(), devices)) {
    if (!result.empty()) result += "\n";
    result += fmt::format("{}|{}|{}", problem.field, problem.other_field, problem.message);
  }
  return result;
}

}  // namespace

TEST_CASE("problems: a plan that divides everything has none") {
  CHECK(text(fitting_plan()) == "");
  Plan plan = fitting_plan();
  plan.schedule = ScheduleKind::interleaved, plan.virtual_stages = 2;
  CHECK(text(plan) == "");
  plan.sharding = Sharding::zero3;  // fully sharded stages of a pipeline are fine
  CHECK(text(plan) == "");
}

TEST_CASE("problems: ranks and devices, with the arithmetic") {
  Plan plan = fitting_plan();
  plan.data = 3, plan.global_batch = 63;
  CHECK(text(plan) ==
        "plan.data.degree|cluster|tensor 8 x pipeline 4 x data 3 = 96 ranks, but the cluster has "
        "128 devices");
  CHECK(problems(plan, llama_8b(), 128).front().hint ==
        "write plan.data.degree: 4, or leave it out");
  plan.context = 5, plan.sequence = 8000;
  CHECK(text(plan) ==
        "plan.data.degree|cluster|tensor 8 x context 5 x pipeline 4 x data 3 = 480 ranks, but the "
        "cluster has 128 devices");
  CHECK(problems(plan, llama_8b(), 128).front().hint ==
        "choose degrees whose product is the number of devices");
}

TEST_CASE("problems: every count below 1 is named, and nothing else is tried") {
  Plan plan = fitting_plan();
  plan.tensor = 0, plan.micro_batch = -1;
  CHECK(text(plan) ==
        "plan.tensor||plan.tensor is 0, but must be at least 1\n"
        "training.micro_batch||training.micro_batch is -1, but must be at least 1");
}

TEST_CASE("problems: tensor against heads, hidden, feed-forward and key-value heads") {
  // Llama-3.1-8B: 32 heads, 8 key-value heads, hidden 4096, feed-forward 14336 = 2^11 x 7.
  Plan plan = fitting_plan();
  plan.tensor = 7, plan.sequence = 7 * 1024;
  CHECK(text(plan, 7 * 16) ==
        "plan.tensor|dnn|tensor 7 does not divide the 32 attention heads\n"
        "plan.tensor|dnn|tensor 7 does not divide the 4096 columns of the hidden state\n"
        "plan.tensor|dnn|tensor 7 neither divides the 8 key-value heads nor is a multiple of them");
  plan.tensor = 16, plan.sequence = 8192;  // two ranks hold the same key-value head
  CHECK(text(plan, 16 * 16) == "");
  dnn::Transformer twelve = llama_8b();
  twelve.heads = twelve.kv_heads = 12;
  twelve.hidden = 4096, twelve.ffn = 4096;
  plan.tensor = 8;
  const auto found = problems(plan, twelve, 128);
  REQUIRE(found.size() == 2);
  CHECK(found[0].message == "tensor 8 does not divide the 12 attention heads");
  CHECK(found[1].message ==
        "tensor 8 neither divides the 12 key-value heads nor is a multiple of them");
}

TEST_CASE("problems: sequence parallelism and context split the tokens") {
  Plan plan = fitting_plan();
  plan.sequence = 8190;
  CHECK(text(plan) ==
        "plan.tensor|training.sequence|tensor 8 does not divide the 8190 tokens of a sequence, "
        "which sequence parallelism splits");
  plan.sequence_parallel = false;
  CHECK(text(plan) == "");
  plan.context = 4, plan.data = 1;
  CHECK(text(plan) ==
        "plan.context|training.sequence|context 4 does not divide the 8190 tokens of a sequence");
}

TEST_CASE("problems: the global batch is whole micro-batches on every replica") {
  Plan plan = fitting_plan();
  plan.micro_batch = 3;
  CHECK(text(plan) ==
        "training.global_batch|training.micro_batch|micro_batch 3 x data 4 = 12 does not divide "
        "the global batch of 64");
  CHECK(problems(plan, llama_8b(), 128).front().hint == "write 60 or 72");
  plan.global_batch = 5;
  CHECK(problems(plan, llama_8b(), 128).front().hint == "write 12");
}

TEST_CASE("problems: layers, even and listed") {
  Plan plan = fitting_plan();
  plan.stages = 64;
  CHECK(text(plan, 64 * 32) == "plan.pipeline.stages|dnn|stages 64, but the dnn has 32 layers");
  plan = fitting_plan();
  plan.schedule = ScheduleKind::interleaved, plan.virtual_stages = 9;
  CHECK(text(plan) ==
        "plan.pipeline.stages|dnn|stages 4 x virtual_stages 9 = 36, but the dnn has 32 layers");
  plan = fitting_plan();
  plan.layers = {8, 8, 16};
  CHECK(text(plan) ==
        "plan.pipeline.layers|plan.pipeline.stages|3 numbers of layers, but stages 4 x "
        "virtual_stages 1 = 4");
  plan.layers = {7, 8, 8, 8};
  CHECK(text(plan) ==
        "plan.pipeline.layers|dnn|the layers of all stages are 31, but the dnn has 32");
  plan.layers = {-1, 17, 8, 8};
  CHECK(text(plan) == "plan.pipeline.layers||a virtual stage has a negative number of layers");
  plan.layers = {0, 16, 8, 8};  // a first stage with the embedding alone
  CHECK(text(plan) == "");
}

TEST_CASE("problems: what schedules need") {
  Plan plan = fitting_plan();
  plan.virtual_stages = 2;
  CHECK(text(plan) ==
        "plan.pipeline.virtual_stages|plan.pipeline.schedule|2 virtual stages, but the schedule "
        "1f1b has one a stage");
  plan.schedule = ScheduleKind::interleaved, plan.virtual_stages = 1;
  CHECK(text(plan) ==
        "plan.pipeline.schedule|plan.pipeline.virtual_stages|interleaved-1f1b needs at least 2 "
        "stages and 2 virtual stages, not 4 and 1");
  // Stages need not divide the micro-batches.
  plan.virtual_stages = 2, plan.global_batch = 72;
  CHECK(text(plan) == "");
  plan.schedule = ScheduleKind::zb_v, plan.virtual_stages = 1;
  CHECK(text(plan) ==
        "plan.pipeline.virtual_stages|plan.pipeline.schedule|1 virtual stages, but the schedule "
        "zb-v has 2");
  plan.virtual_stages = 2, plan.global_batch = 28;
  CHECK(text(plan) ==
        "training.global_batch|plan.pipeline.schedule|7 micro-batches on each replica, but the "
        "schedule zb-v over 4 stages needs 8");
  plan.schedule = ScheduleKind::dual_pipe, plan.global_batch = 36;
  CHECK(
      text(plan) ==
      "plan.pipeline.schedule|plan.pipeline.stages|dual-pipe with 4 stages and 9 micro-batches on "
      "each replica");
  plan.global_batch = 32, plan.sharding = Sharding::zero2;
  CHECK(text(plan) ==
        "plan.data.sharding|plan.pipeline.schedule|dual-pipe with gradients that are sharded");
  plan.sharding = Sharding::none;
  plan.schedule = ScheduleKind::double_buffered, plan.virtual_stages = 1, plan.flush = true;
  CHECK(text(plan) ==
        "plan.pipeline.flush|plan.pipeline.schedule|the schedule pipedream-2bw never flushes");
  plan.flush.reset(), plan.staleness = 1;
  CHECK(text(plan) ==
        "plan.pipeline.staleness|plan.pipeline.schedule|staleness of the schedule pipedream-2bw");
}

TEST_CASE("problems: a table of one's own") {
  Plan plan = fitting_plan();
  plan.stages = 2, plan.data = 8, plan.global_batch = 8;
  plan.schedule = ScheduleKind::table;
  plan.table.passes = {{{Pass::Kind::forward, 0, 0}, {Pass::Kind::backward, 0, 0}}};
  CHECK(text(plan) ==
        "plan.pipeline.schedule.table.passes|plan.pipeline.stages|1 rows, but there are 2 stages");
  plan.table.passes.push_back({{Pass::Kind::backward, 0, 0}, {Pass::Kind::forward, 0, 0}});
  CHECK(text(plan) == "plan.pipeline.schedule.table.passes.1||backward 0.0 of stage 1 is wrong");
  std::swap(plan.table.passes[1][0], plan.table.passes[1][1]);
  CHECK(text(plan) == "");
  plan.table.passes.clear();
  plan.table.warm_up = {1, 0, 0};
  CHECK(text(plan) ==
        "plan.pipeline.schedule.rule.warm_up|plan.pipeline.stages|3 rows, but there are 2 stages");
  plan.table.warm_up = {1, 0};
  CHECK(text(plan) == "");
  // The second stage waits for a forward pass that comes after a backward one it has to send.
  plan.global_batch = 16, plan.table.warm_up = {0, 1};
  CHECK(text(plan) == "plan.pipeline.schedule.rule||the schedule stops at backward 0.0 of stage 0");
}

TEST_CASE("problems: the order of placement is a permutation") {
  Plan plan = fitting_plan();
  plan.order = {Dimension::tensor, Dimension::data, Dimension::data, Dimension::pipeline};
  CHECK(text(plan) == "placement.order||the order names data twice");
}

TEST_CASE("problems: numbers that no product can hold are reported, not wrapped") {
  constexpr int most = std::numeric_limits<int>::max();
  constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
  Plan plan = fitting_plan();
  plan.tensor = plan.context = plan.stages = plan.data = plan.virtual_stages = most;
  plan.sequence = plan.global_batch = plan.micro_batch = longest;
  const auto found = problems(plan, llama_8b(), 128);
  REQUIRE(!found.empty());
  CHECK(found.front().field == "plan.data.degree");
  plan = fitting_plan();
  plan.global_batch = 4 * (std::int64_t{1} << 40);
  CHECK(text(plan) ==
        "training.global_batch|training.micro_batch|1099511627776 micro-batches on each replica "
        "are more than can be scheduled");
}

TEST_CASE("layers: an even split gives the remainder to the earlier virtual stages") {
  Plan plan;
  plan.stages = 2, plan.virtual_stages = 2;
  CHECK(layers_per_virtual_stage(plan, 8) == std::vector{2, 2, 2, 2});
  CHECK(layers_per_virtual_stage(plan, 11) == std::vector{3, 3, 3, 2});
  plan.layers = {1, 2, 3, 5};
  CHECK(layers_per_virtual_stage(plan, 11) == std::vector{1, 2, 3, 5});
}

TEST_CASE("layers: a stack that balances stages counts the head") {
  dnn::SoftwareStack stack;
  dnn::Transformer dnn;
  dnn.layers = 32, dnn.hidden = 4096, dnn.ffn = 14336, dnn.vocabulary = 128256;
  Plan plan;
  plan.stages = 8;
  CHECK(layers_per_virtual_stage(plan, dnn, stack) == std::vector{4, 4, 4, 4, 4, 4, 4, 4});
  // The head is 2.16 layers, a share 4.27: dealt are 5, 9, 13, 18, 22, 26, 30, 32.
  stack.balances_stages = true;
  CHECK(layers_per_virtual_stage(plan, dnn, stack) == std::vector{5, 4, 4, 5, 4, 4, 4, 2});
  // A share of exactly 5 layers is not exceeded by 5; the head alone is the last stage's 4.
  dnn.layers = 16, dnn.hidden = 2048, dnn.ffn = 8192, dnn.vocabulary = 131072;
  plan.stages = 4;
  CHECK(layers_per_virtual_stage(plan, dnn, stack) == std::vector{6, 5, 5, 0});
  plan.stages = 1;
  CHECK(layers_per_virtual_stage(plan, dnn, stack) == std::vector{16});
  plan.stages = 2, plan.layers = {9, 7};
  CHECK(layers_per_virtual_stage(plan, dnn, stack) == std::vector{9, 7});
}

TEST_CASE("problems: every other product again, of plain layers only") {
  Plan plan = fitting_plan();
  plan.recompute = dnn::Recompute::alternate;
  CHECK(text(plan) == "");
  dnn::Transformer dnn = llama_8b();
  dnn.prediction_modules = 1;
  const auto found = problems(plan, dnn, 128);
  REQUIRE(found.size() == 1);
  CHECK(found.front().field == "plan.recompute");
  CHECK(found.front().message ==
        "every other product again, of a dnn with other than plain layers");
}

TEST_CASE("problems: what cannot be dealt anew") {
  const auto fields = [](const Plan& plan, bool has_experts = false) {
    std::string result;
    for (const Problem& problem : problems_of_replanning(plan, has_experts)) {
      result += problem.field + ": " + problem.message + "\n";
    }
    return result;
  };
  CHECK(fields(fitting_plan()) == "");
  Plan plan = fitting_plan();
  plan.schedule = ScheduleKind::double_buffered;
  CHECK(fields(plan) ==
        "plan.pipeline.schedule: the schedule pipedream-2bw of a plan that is made anew\n");
  plan.schedule = ScheduleKind::gpipe, plan.flush = false;
  CHECK(fields(plan) ==
        "plan.pipeline.schedule: the schedule gpipe without a flush of a plan that is made anew\n");
  plan = fitting_plan();
  plan.tensor = 6;
  CHECK(fields(plan) == "plan.tensor: tensor 6, no power of two\n");
  plan = fitting_plan();
  plan.cuts.emplace_back();
  CHECK(fields(plan) == "plan.layers: layers that are cut otherwise than the others\n");
  plan = fitting_plan();
  plan.context = 2, plan.sharding = Sharding::zero3;
  CHECK(fields(plan, true) ==
        "plan.context: context parallelism of replicas that are not alike\n"
        "plan.replicas: routed experts of replicas that are not alike\n"
        "plan.data.sharding: sharded gradients of replicas that are not alike\n");
  plan = fitting_plan();
  set_replicas(plan, {{.tensor = {1}, .layers = {32}, .micro_batches = 64, .devices = {0}}});
  CHECK(fields(plan) == "plan.replicas: a plan whose replicas are cut each by itself\n");
}
