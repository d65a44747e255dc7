// Streams of the data-parallel traffic between replicas that are not cut alike.
#include <fmt/format.h>

#include "sim/training/job_builder.h"

namespace sim::training {

void JobBuilder::make_split_plan() {
  std::vector<const std::vector<Unit>*> of_stages;
  for (int stage = 0; stage < static_cast<int>(result_.stages.size()); ++stage) {
    const int rank = grid_.rank({0, 0, pipeline_at(stage).first_replica, stage_at(stage).place});
    of_stages.push_back(&units(stage, rank).front());
  }
  split_ =
      split_plan(job_.stack, job_.plan, result_.pipelines, result_.stages, of_stages, data_plans_);
}

void JobBuilder::make_split_streams() {
  copy_streams_.resize(result_.lanes.size());
  for (const SplitPlan::Part& part : split_.parts) {
    for (int share = 0; share < part.shares && !part.steps.empty(); ++share) {
      make_split_stream(part, share);
    }
  }
}

void JobBuilder::make_split_stream(const SplitPlan::Part& part, int share) {
  std::vector<int> ranks;
  for (int replica = 0; replica < job_.plan.data; ++replica) {
    const Stage& stage = stage_at(part.stages[plan::kind_of(kinds_, replica)]);
    ranks.push_back(grid_.rank({share * stage.plan.tensor / part.shares, 0, replica, stage.place}));
  }
  std::vector<GroupStep> steps;
  for (const SplitPlan::Step& step : part.steps) {
    steps.push_back({step.operation, Bytes(step.bytes), step.label, Category::exposed_data});
  }
  const auto index = &part - split_.parts.data();
  const Communicator group(cluster_, profile(ranks.front()), devices(ranks));
  const StreamId stream = group_stream({
      .name = fmt::format("share {} of part {}", share, index),
      .owner = ranks.front(),
      .key = fmt::format("part {}", index),
      .group = &group,
      .steps = steps,
      .milestones =
          [&](std::size_t step, int stage) {
            const auto pipeline = static_cast<std::size_t>(stage_at(stage).pipeline);
            const SplitPlan::Wait& wait = part.steps[step].waits[pipeline];
            const Milestones m = milestones_of(stage);
            std::vector<int> waits;
            if (wait.event) waits.push_back(m.event(*wait.event));
            if (wait.update) waits.push_back(m.optimizer_done(*wait.update));
            return waits;
          },
      .bearers_of = bearers_of_ring(),
      .reached = &part.numbers,
      .reached_count = split_.steps,
  });
  for (const int rank : ranks) {
    const int lane = lane_at(rank);
    auto& known = data_streams_.front()[static_cast<std::size_t>(lane)];
    if (known.empty() || known.back() != stream) known.push_back(stream);
  }
  record_first(stream, ranks, fmt::format("data, part {}", index));
}

}  // namespace sim::training
