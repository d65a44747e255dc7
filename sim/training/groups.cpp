// Streams of rank groups: tensor, data and embedding collectives, and transfers between stages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/training/job_builder.h"

namespace sim::training {

using plan::Pass;

void JobBuilder::make_tensor_stream(int index, const LanePrograms& programs,
                                    const std::string& key) {
  const Lane& lane = result_.lanes[static_cast<std::size_t>(index)];
  const StreamId stream = group_stream({
      .name = lane_label(lane, "tensor"),
      .owner = lane.ranks.front(),
      .key = "tensor " + key,
      .group = tensor_[static_cast<std::size_t>(index)].get(),
      .steps = programs.tensor_steps,
      .milestones = [this](std::size_t step, int stage) -> std::vector<int> {
        return {milestones_of(stage).tensor_base() + static_cast<int>(step)};
      },
      .transfer = Category::exposed_tensor,
      .late = Category::wait,
      .count_of = count_for(lane.ranks.front()),
      .size = lane.size,
  });
  for (const DeviceIndex member : tensor_[static_cast<std::size_t>(index)]->members()) {
    tensor_stream_[static_cast<std::size_t>(lane_at(member))] = stream;
  }
  if (is_recorded(lane)) record(stream, index, "tensor");
}

void JobBuilder::make_unmerged_tensor_streams() {
  for (std::size_t i = 0; i < result_.lanes.size(); ++i) {
    const Lane& lane = result_.lanes[i];
    if (lane.is_merged || !tensor_[i] || tensor_stream_[i] >= 0) continue;
    const std::string key = lane_key(static_cast<int>(i));
    const LanePrograms& programs = made_.at(key);
    if (!programs.tensor_steps.empty()) {
      make_tensor_stream(static_cast<int>(i), programs, key);
    }
  }
}

bool JobBuilder::sends(const Lane& lane, const Pass& pass, bool is_forward) const {
  if ((pass.kind == Pass::Kind::forward) != is_forward) return false;
  const int position = pass.virtual_stage * job_.plan.stages + lane.stage;
  return is_forward ? position < job_.plan.stages * job_.plan.virtual_stages - 1 : position > 0;
}

network::Program JobBuilder::send_program(const Lane& lane, bool is_forward,
                                          const TransferCost& cost, std::int64_t reserve) const {
  const Milestones m{job_.plan.micro_batches(), job_.plan.virtual_stages, 0};
  ProgramWriter writer;
  for (const Pass& pass : passes_[static_cast<std::size_t>(lane.stage)]) {
    if (!sends(lane, pass, is_forward)) continue;
    const int milestone = is_forward ? m.forward(pass.virtual_stage, pass.micro_batch)
                                     : m.backward(pass.virtual_stage, pass.micro_batch);
    ProgramWriter::StepSpec spec{
        .label = fmt::format("send {} {}.{}", is_forward ? "forward" : "backward", pass.micro_batch,
                             pass.virtual_stage),
        .category = Category::exposed_pipeline,
        .lag = cost.lag,
        .work = cost.work,
        .weight = cost.weight,
        .reserve = reserve,
        .waits = {{0, milestone, reserve > 0}},
        .uses = {},
        .parts = {}};
    if (cost.work > 0) spec.uses.push_back({1, cost.amount});
    writer.add(spec);
    writer.reach(m.forward(pass.virtual_stage, pass.micro_batch));
  }
  return writer.take();
}

// Transfers of one lane to its neighbour, in the order of its passes.
void JobBuilder::make_send(int index, bool is_forward) {
  const Lane& lane = result_.lanes[static_cast<std::size_t>(index)];
  const std::vector<Pass>& passes = passes_[static_cast<std::size_t>(lane.stage)];
  const bool sends_any = std::any_of(passes.begin(), passes.end(), [&](const Pass& pass) {
    return sends(lane, pass, is_forward);
  });
  if (!sends_any) return;
  const int stages = job_.plan.stages;
  const int target_stage = (lane.stage + (is_forward ? 1 : stages - 1)) % stages;
  std::vector<std::pair<DeviceIndex, DeviceIndex>> pairs;
  for (const int rank : lane.ranks) {
    plan::Coordinates c = grid_.coordinates(rank);
    c.pipeline = target_stage;
    pairs.emplace_back(rank, grid_.rank(c));
  }
  const Profile& p = profile(lane.ranks.front());
  const Path path = side_by_side(cluster_, p, pairs);
  TransferCost cost = transfer_cost(path, costs(lane.ranks.front()).boundary);
  cost.lag += to_picoseconds(job_.stack.pipeline_overhead);
  const int multiprocessors = std::max(p.device().multiprocessors, 1);
  const bool is_ideal = p.origin() == calibrate::profile::Origin::ideal;
  const std::int64_t reserve = is_ideal ? 0 : multiprocessors_one * path.channels / multiprocessors;
  const std::string key = fmt::format("send {} {} {}/{}/{}/{}", is_forward, lane.stage, cost.lag,
                                      cost.work, cost.amount, reserve);
  const std::int32_t program =
      builder_.program(key, [&] { return send_program(lane, is_forward, cost, reserve); });
  const StreamId stream = builder_.add_stream(
      lane_label(lane, is_forward ? "send forward" : "send backward"), program, lane.ranks.front());
  builder_.set_slots(stream, {{{{lane.compute, 0}}, Category::other, Category::other}});
  builder_.set_footprints(stream, {builder_.multiprocessors_of(devices(lane.ranks)),
                                   builder_.path(path, count_for(lane.ranks.front()))});
  builder_.stream(stream).size = lane.size;
  (is_forward ? send_forward_ : send_backward_)[static_cast<std::size_t>(index)] = stream;
  if (is_recorded(lane)) record(stream, index, is_forward ? "send forward" : "send backward");
}

void JobBuilder::make_pipeline() {
  send_forward_.assign(result_.lanes.size(), -1);
  send_backward_.assign(result_.lanes.size(), -1);
  if (job_.plan.stages == 1) return;
  for (std::size_t i = 0; i < result_.lanes.size(); ++i) {
    make_send(static_cast<int>(i), true);
    make_send(static_cast<int>(i), false);
  }
}

void JobBuilder::make_data_stream(const std::vector<int>& ranks, int stage) {
  const DataPlan& data = data_plans_[static_cast<std::size_t>(stage)];
  std::vector<TensorStep> steps;
  for (const DataOperation& operation : data.operations) {
    steps.push_back(
        {operation.operation, Bytes(operation.bytes), operation.label, Category::exposed_data});
  }
  const Communicator group = data_communicator(plan_, ranks.front());
  const StreamId stream = group_stream({
      .name = fmt::format("data group of rank {}", ranks.front()),
      .owner = ranks.front(),
      .key = fmt::format("data {}", stage),
      .group = &group,
      .steps = std::move(steps),
      .milestones =
          [&](std::size_t step, int member_stage) {
            const DataOperation& operation = data.operations[step];
            const Milestones m = milestones_of(member_stage);
            std::vector<int> waits;
            if (operation.event) waits.push_back(m.event(*operation.event));
            if (operation.waits_for_optimizer) waits.push_back(m.optimizer_done());
            return waits;
          },
      .count_of = [this](const ResourceOrigin& o) { return alike(o) > 0 ? 1 : 0; },
  });
  bool has_record = false;
  for (const int rank : ranks) {
    const int lane = lane_at(rank);
    data_streams_[static_cast<std::size_t>(lane)].push_back(stream);
    const Lane& first = result_.lanes[static_cast<std::size_t>(lane)];
    if (has_record || rank != first.ranks.front() || !is_recorded(first)) continue;
    record(stream, lane, "data");
    has_record = true;
  }
}

void JobBuilder::make_data() {
  data_streams_.resize(result_.lanes.size());
  if (job_.plan.data == 1) return;
  for (const int first : ranks_) {
    if (grid_.coordinates(first).data != 0) continue;
    const std::vector<int> ranks = along_data(first, plan_.replicas.kept());
    const int stage = grid_.coordinates(ranks.front()).pipeline;
    if (data_plans_[static_cast<std::size_t>(stage)].operations.empty()) continue;
    make_data_stream(ranks, stage);
  }
}

// The first and the last stage hold copies of a tied embedding; their gradients are added.
void JobBuilder::make_embedding() {
  embedding_streams_.resize(result_.lanes.size());
  if (!has_embedding_reduction()) return;
  for (const int rank : ranks_) {
    plan::Coordinates c = grid_.coordinates(rank);
    if (c.pipeline != 0) continue;
    c.pipeline = job_.plan.stages - 1;
    const int other = grid_.rank(c);
    const Communicator group(cluster_, profile(rank), {rank, other});
    const double bytes = costs(rank).embedding.gradient_bytes;
    const StreamId stream = group_stream({
        .name = fmt::format("embedding group of rank {}", rank),
        .owner = rank,
        .key = "embedding",
        .group = &group,
        .steps = {{collective::Operation::all_reduce, Bytes(bytes), "reduce embedding gradients",
                   Category::exposed_pipeline}},
        .milestones = [this](std::size_t, int stage) -> std::vector<int> {
          return {milestones_of(stage).passes_done()};
        },
        .count_of = count_for(rank),
        .size = result_.lanes[static_cast<std::size_t>(lane_at(rank))].size,
    });
    for (const int r : {rank, other}) {
      embedding_streams_[static_cast<std::size_t>(lane_at(r))].push_back(stream);
    }
  }
}

}  // namespace sim::training
