// Streams of rank groups: tensor, context, expert, data and embedding collectives, and transfers
// between stages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/training/job_builder.h"

namespace sim::training {

using plan::Pass;

void JobBuilder::make_unmerged_tensor_streams() {
  for (std::size_t i = 0; i < result_.lanes.size(); ++i) {
    const Lane& lane = result_.lanes[i];
    if (lane.is_merged || !tensor_[i] || !tensor_streams_[i].empty()) continue;
    const auto& [key, programs] = *made_of_lane_[i];
    if (!programs.steps_of(dnn::RankGroup::tensor).empty()) {
      make_tensor_streams(static_cast<int>(i), programs, key);
    }
  }
}

// A lane can have ranks in several such groups; it waits for all of them.
void JobBuilder::make_shared_streams(dnn::RankGroup group) {
  const char* const names[] = {"tensor", "context", "expert", "expert tensor"};
  const char* const name = names[static_cast<std::size_t>(group)];
  auto& streams = shared_streams_[static_cast<std::size_t>(group)];
  streams.resize(result_.lanes.size());
  for (const int rank : ranks_) {
    const Lane& lane = result_.lanes[static_cast<std::size_t>(lane_at(rank))];
    const auto& steps =
        made_of_lane_[static_cast<std::size_t>(lane_at(rank))]->second.steps_of(group);
    if (steps.empty()) continue;
    const std::vector<int> members = group_of(grid_, group, rank);
    if (*std::min_element(members.begin(), members.end()) != rank) continue;
    const Communicator communicator(cluster_, profile(rank), devices(members));
    const Category category = steps.front().category;
    const StreamId stream = group_stream({
        .name = fmt::format("{} group of rank {}", name, rank),
        .owner = rank,
        .key = fmt::format("{} {}", name, lane.stage),
        .group = &communicator,
        .steps = steps,
        .milestones = [&steps](std::size_t step, int) -> std::vector<int> {
          return {steps[step].milestone};
        },
        .transfer = category,
        .late = Category::wait,
        .bearers_of = bearers_for(rank),
    });
    for (const int member : members) {
      auto& known = streams[static_cast<std::size_t>(lane_at(member))];
      if (std::find(known.begin(), known.end(), stream) == known.end()) known.push_back(stream);
    }
    if (is_recorded(lane)) record(stream, lane_at(rank), name);
  }
}

bool JobBuilder::sends(const Lane& lane, const Pass& pass, bool to_next) const {
  using Neighbour = plan::Schedule::Neighbour;
  return schedule_at(lane.stage).target(stage_at(lane.stage).place, pass) ==
         (to_next ? Neighbour::next : Neighbour::previous);
}

network::Program JobBuilder::send_program(const Lane& lane, bool to_next, const TransferCost& cost,
                                          std::int64_t reserve) const {
  const Milestones m(schedule_at(lane.stage), 0, 0);
  ProgramWriter writer;
  for (const Pass& pass : passes_at(lane.stage)) {
    if (!sends(lane, pass, to_next)) continue;
    const bool is_forward = pass.kind == Pass::Kind::forward;
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
    // In one direction a virtual stage sends either activations or gradients.
    writer.reach(m.forward(pass.virtual_stage, pass.micro_batch));
  }
  return writer.take();
}

// Between a lane and the ranks at its place on a neighbouring stage.
Path JobBuilder::path_to(const Lane& lane, bool next, bool is_reversed) const {
  std::vector<std::pair<DeviceIndex, DeviceIndex>> pairs;
  for (const int rank : lane.ranks) {
    for (const int other : ranks_beside(rank, next)) {
      pairs.emplace_back(is_reversed ? other : rank, is_reversed ? rank : other);
    }
  }
  return side_by_side(cluster_, profile(static_cast<int>(pairs.front().first)), pairs);
}

// What each pair of ranks passes on, and what the receivers gather of it.
JobBuilder::Boundary JobBuilder::boundary(int sender, int receiver) {
  const JobCosts& c = costs(sender);
  const int from = job_at(stage_of(sender)).plan.tensor,
            to = job_at(stage_of(receiver)).plan.tensor;
  if (from == to) return {c.boundary, c.gathered};
  // Between unlike degrees nothing is sent twice: each pair passes on what both hold, or will.
  const bool is_shared = job_.plan.sequence_parallel;
  const Bytes whole = from == 1               ? c.boundary
                      : is_shared             ? c.boundary * from
                      : c.gathered > Bytes(0) ? c.gathered
                                              : c.boundary;
  return {whole / std::max(from, to), is_shared || to == 1 ? Bytes(0) : whole};
}

// With the gathering of what came in shares; inside a host it loads nothing that is contended for.
TransferCost JobBuilder::boundary_cost(const Path& path, int sender, int receiver) {
  const Boundary what = boundary(sender, receiver);
  TransferCost cost = transfer_cost(path, what.sent);
  cost.lag += to_picoseconds(job_.stack.pipeline_overhead);
  const auto& tensor = tensor_[static_cast<std::size_t>(lane_at(receiver))];
  if (tensor && what.gathered > Bytes(0)) {
    const TransferCost gather =
        tensor->whole->cost(collective::Operation::all_gather, what.gathered).second;
    cost.lag += gather.lag + gather.work;
  }
  return cost;
}

// A blocking receive is a kernel of the receiver too: it starts when the stage comes to it and the
// sender has what it sends, and takes what the transfer takes alone.
Picoseconds JobBuilder::receive_cost(int index, bool from_next) {
  const Lane& lane = result_.lanes[static_cast<std::size_t>(index)];
  if (!job_.stack.pipeline_blocks || schedule_at(lane.stage).stages == 1) return 0;
  const int rank = lane.ranks.front();
  const TransferCost cost =
      boundary_cost(path_to(lane, from_next, true), ranks_beside(rank, from_next).front(), rank);
  return cost.lag + cost.work;
}

// Transfers of one lane to a neighbour, in the order of its passes.
void JobBuilder::make_send(int index, bool to_next) {
  const Lane& lane = result_.lanes[static_cast<std::size_t>(index)];
  const auto& passes = passes_at(lane.stage);
  const bool sends_any = std::any_of(passes.begin(), passes.end(),
                                     [&](const Pass& pass) { return sends(lane, pass, to_next); });
  if (!sends_any) return;
  const Profile& p = profile(lane.ranks.front());
  const Path path = path_to(lane, to_next, false);
  const int rank = lane.ranks.front();
  const TransferCost cost = boundary_cost(path, rank, ranks_beside(rank, to_next).front());
  const int multiprocessors = std::max(p.device().multiprocessors, 1);
  const bool is_ideal = p.origin() == calibrate::profile::Origin::ideal;
  const std::int64_t reserve = is_ideal ? 0 : multiprocessors_one * path.channels / multiprocessors;
  const std::string key = fmt::format("send {} {} {}/{}/{}/{}", to_next, lane.stage, cost.lag,
                                      cost.work, cost.amount, reserve);
  const std::int32_t program =
      builder_.program(key, [&] { return send_program(lane, to_next, cost, reserve); });
  const char* const name = to_next ? "send forward" : "send backward";
  const StreamId stream = builder_.add_stream(lane_label(lane, name), program, lane.ranks.front());
  builder_.set_slots(stream, {{{{lane.compute, 0}}, Category::other, Category::other}});
  builder_.set_footprints(stream, {builder_.multiprocessors_of(devices(lane.ranks)),
                                   builder_.path(path, bearers_for(lane.ranks.front()))});
  builder_.stream(stream).size = lane.size;
  (to_next ? send_next_ : send_previous_)[static_cast<std::size_t>(index)] = stream;
  if (is_recorded(lane)) record(stream, index, name);
}

void JobBuilder::make_pipeline() {
  send_next_.assign(result_.lanes.size(), -1);
  send_previous_.assign(result_.lanes.size(), -1);
  for (std::size_t i = 0; i < result_.lanes.size(); ++i) {
    make_send(static_cast<int>(i), true);
    make_send(static_cast<int>(i), false);
  }
}

void JobBuilder::make_data_stream(Sharers sharers, const std::vector<int>& ranks, int stage) {
  const StageDataPlan& data = data_plans_[static_cast<std::size_t>(stage)];
  const auto& operations = data.of(sharers).operations;
  std::vector<GroupStep> steps;
  for (const DataOperation& operation : operations) {
    steps.push_back(
        {operation.operation, Bytes(operation.bytes), operation.label, Category::exposed_data});
  }
  const Communicator group = plan_.replicas.are_all_kept()
                                 ? Communicator(cluster_, profile(ranks.front()), devices(ranks))
                                 : data_communicator(plan_, ranks.front());
  const std::string name = name_of(sharers);
  const StreamId stream = group_stream({
      .name = fmt::format("{} group of rank {}", name, ranks.front()),
      .owner = ranks.front(),
      .key = fmt::format("{} {}", name, stage),
      .group = &group,
      .steps = steps,
      .milestones =
          [&](std::size_t step, int member_stage) {
            const DataOperation& operation = operations[step];
            const Milestones m = milestones_of(member_stage);
            std::vector<int> waits;
            if (operation.event) {
              waits.push_back(m.event(data.first_event(sharers) + *operation.event));
            }
            if (operation.update) waits.push_back(m.optimizer_done(*operation.update));
            return waits;
          },
      .bearers_of = bearers_of_ring(),
  });
  auto& streams = data_streams_[index_of(sharers)];
  for (const int rank : ranks) {
    const int lane = lane_at(rank);
    if (!data.copies.reductions.empty()) data_stream_of_rank_[rank] = stream;
    auto& known = streams[static_cast<std::size_t>(lane)];
    if (known.empty() || known.back() != stream) known.push_back(stream);
  }
  record_first(stream, ranks, name);
}

// Those that hold the same share of a layer of this tensor degree.
std::vector<int> JobBuilder::further_sharers(int tensor, int rank) const {
  std::vector<int> result;
  plan::Coordinates c = grid_.coordinates(rank);
  const int place = c.tensor % tensor;
  for (const int one : grid_.sharers(rank)) {
    c = grid_.coordinates(one);
    for (c.tensor = place; c.tensor < job_.plan.tensor; c.tensor += tensor) {
      result.push_back(grid_.rank(c));
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

// Simulated ranks that hold the same parameters, ascending.
std::vector<int> JobBuilder::sharers_of(Sharers sharers, int rank) const {
  if (sharers == Sharers::expert_data) return grid_.group(plan::ExpertDimension::data, rank);
  if (index_of(sharers) >= index_of(Sharers::further)) {
    return further_sharers(holdings_[holding_of(sharers)].tensor, rank);
  }
  if (job_.plan.copies() > 1) return grid_.shard_group(rank);
  if (job_.plan.context > 1) return grid_.sharers(rank);
  return along_data(rank, plan_.replicas.kept());
}

void JobBuilder::make_data_streams(Sharers sharers) {
  const bool is_both = schedule().arrangement == plan::Arrangement::both_ways;
  for (const int first : ranks_) {
    plan::Coordinates c = grid_.coordinates(first);
    const int stage = c.pipeline;
    if (data_plans_[static_cast<std::size_t>(stage)].of(sharers).operations.empty()) continue;
    std::vector<int> ranks = sharers_of(sharers, first);
    if (*std::min_element(ranks.begin(), ranks.end()) != first) continue;
    if (is_both) {
      // The other copies of its parts are on the stage at the same place from the other end.
      c.pipeline = job_.plan.stages - 1 - stage;
      if (c.pipeline <= stage) continue;
      const std::vector<int> others = sharers_of(sharers, grid_.rank(c));
      ranks.insert(ranks.end(), others.begin(), others.end());
    }
    make_data_stream(sharers, ranks, stage);
  }
}

void JobBuilder::make_data() {
  data_streams_.resize(sharers_count(holdings_.size()));
  for (auto& streams : data_streams_) streams.resize(result_.lanes.size());
  if (are_unlike()) return make_split_streams();
  for (std::size_t group = 0; group < data_streams_.size(); ++group) {
    make_data_streams(static_cast<Sharers>(group));
  }
  make_copies();
}

// Each reduction when the shard groups of all members have scattered what it adds up.
void JobBuilder::make_copy_stream(const std::vector<int>& ranks, int stage) {
  const auto& reductions = data_plans_[static_cast<std::size_t>(stage)].copies.reductions;
  std::vector<GroupStep> steps;
  for (const CopyPlan::Reduction& reduction : reductions) {
    steps.push_back({collective::Operation::all_reduce, Bytes(reduction.bytes),
                     "reduce gradients of copies", Category::exposed_data});
  }
  const Communicator group(cluster_, profile(ranks.front()), devices(ranks));
  const StreamId stream = group_stream({
      .name = fmt::format("copies of rank {}", ranks.front()),
      .owner = ranks.front(),
      .key = fmt::format("copies {}", stage),
      .group = &group,
      .steps = steps,
      .milestones = [&](std::size_t step, int) -> std::vector<int> {
        return {reductions[step].after};
      },
      .transfer = Category::exposed_data,
      .late = Category::wait,
      .bearers_of = bearers_of_ring(),
      .member_streams = &data_stream_of_rank_,
  });
  for (const int rank : ranks) {
    const int lane = lane_at(rank);
    copy_streams_[static_cast<std::size_t>(lane)].push_back(stream);
  }
  record_first(stream, ranks, "copies");
}

void JobBuilder::make_copies() {
  copy_streams_.resize(result_.lanes.size());
  if (job_.plan.copies() == 1) return;
  for (const int first : ranks_) {
    const int stage = grid_.coordinates(first).pipeline;
    if (data_plans_[static_cast<std::size_t>(stage)].copies.reductions.empty()) continue;
    const std::vector<int> ranks = grid_.copies(first);
    if (ranks.front() == first) make_copy_stream(ranks, stage);
  }
}

// The first and the last stage hold copies of a tied embedding; their gradients are added, by pairs
// of ranks that hold the same share.
void JobBuilder::make_embedding() {
  embedding_streams_.resize(result_.lanes.size());
  if (!has_embedding_reduction()) return;
  for (const int rank : ranks_) {
    const int stage = stage_of(rank);
    plan::Coordinates c = grid_.coordinates(rank);
    if (c.pipeline != 0 || !holds_embedding(stage)) continue;
    c.pipeline = schedule_at(stage).stages - 1;
    for (const int other : ranks_at(rank, c.pipeline)) make_embedding_stream(rank, other);
  }
}

void JobBuilder::make_embedding_stream(int rank, int other) {
  const Communicator group(cluster_, profile(rank), {rank, other});
  const double gradients = std::min(costs(rank).embedding.held_by(Sharers::data).gradients,
                                    costs(other).embedding.held_by(Sharers::data).gradients);
  const std::vector<GroupStep> steps(static_cast<std::size_t>(schedule().rounds),
                                     {collective::Operation::all_reduce, Bytes(gradients),
                                      "reduce embedding gradients", Category::exposed_pipeline});
  const StreamId stream = group_stream({
      .name = fmt::format("embedding group of rank {}", rank),
      .owner = rank,
      .key = "embedding",
      .group = &group,
      .steps = steps,
      .milestones = [this](std::size_t round, int stage) -> std::vector<int> {
        return {milestones_of(stage).passes_done(static_cast<int>(round))};
      },
      .bearers_of = bearers_for(rank),
      .size = result_.lanes[static_cast<std::size_t>(lane_at(rank))].size,
  });
  for (const int r : {rank, other}) {
    embedding_streams_[static_cast<std::size_t>(lane_at(r))].push_back(stream);
  }
}

}  // namespace sim::training
