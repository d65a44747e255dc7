// Puts the parts of a job together and connects them.
#include "sim/training/job_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "sim/training/disturbance.h"
#include "sim/training/job_builder.h"
#include "sim/training/never_binding.h"

namespace sim::training {

Milestones JobBuilder::milestones_of(int stage) const {
  const auto index = static_cast<std::size_t>(stage);
  return {schedule_at(stage), data_plans_[index].events(), shared_collectives_[index]};
}

bool JobBuilder::is_recorded(const Lane& lane) const {
  return std::any_of(result_.recorded.begin(), result_.recorded.end(),
                     [&](const RecordedStream& r) { return r.stream == lane.compute; });
}

// The ranks on another stage of its pipeline that hold a part of the share that this one does.
std::vector<int> JobBuilder::ranks_at(int rank, int place) const {
  plan::Coordinates c = grid_.coordinates(rank);
  const int stage = stage_of(rank);
  const int own = stage_at(stage).plan.tensor;
  const int other = stage_at(stage - stage_at(stage).place + place).plan.tensor;
  c.pipeline = place;
  if (other <= own) {
    c.tensor /= own / other;
    return {grid_.rank(c)};
  }
  std::vector<int> result;
  const int shares = other / own, first = c.tensor * shares;
  for (int i = 0; i < shares; ++i) {
    c.tensor = first + i;
    result.push_back(grid_.rank(c));
  }
  return result;
}

// Those on a neighbouring stage, round the pipeline.
std::vector<int> JobBuilder::ranks_beside(int rank, bool next) const {
  const int stage = stage_of(rank), stages = schedule_at(stage).stages;
  return ranks_at(rank, (stage_at(stage).place + (next ? 1 : stages - 1)) % stages);
}

// stream_of(lane), where there is one, of the lanes at this one's place on a neighbouring stage.
template <class StreamOf>
std::vector<SystemBuilder::MemberSpec> JobBuilder::streams_beside(const Lane& lane, bool next,
                                                                  StreamOf stream_of) const {
  std::vector<SystemBuilder::MemberSpec> result;
  const auto add = [&](StreamId stream) {
    const bool is_known =
        std::any_of(result.begin(), result.end(),
                    [&](const SystemBuilder::MemberSpec& m) { return m.stream == stream; });
    if (stream >= 0 && !is_known) result.push_back({stream});
  };
  for (const int rank : lane.ranks) {
    for (const int other : ranks_beside(rank, next)) {
      add(stream_of(static_cast<std::size_t>(lane_at(other))));
    }
  }
  return result;
}

void JobBuilder::connect() {
  using Members = std::vector<SystemBuilder::MemberSpec>;
  const auto some = [](StreamId stream) { return stream < 0 ? Members{} : Members{{stream}}; };
  const auto all = [](const std::vector<StreamId>& streams) {
    Members members;
    for (const StreamId stream : streams) members.push_back({stream});
    return members;
  };
  for (std::size_t i = 0; i < result_.lanes.size(); ++i) {
    const Lane& lane = result_.lanes[i];
    std::vector<SystemBuilder::SlotSpec> slots(compute_slot_count + holdings_.size() - 1);
    if (schedule_at(lane.stage).stages > 1) {
      const auto compute = [&](std::size_t other) { return result_.lanes[other].compute; };
      slots[slot_from_previous] = {
          streams_beside(lane, false, [&](std::size_t other) { return send_next_[other]; }),
          Category::exposed_pipeline, Category::bubble};
      slots[slot_from_next] = {
          streams_beside(lane, true, [&](std::size_t other) { return send_previous_[other]; }),
          Category::exposed_pipeline, Category::bubble};
      if (job_.stack.pipeline_blocks) {
        slots[slot_previous_compute] = {streams_beside(lane, false, compute), Category::bubble,
                                        Category::bubble};
        slots[slot_next_compute] = {streams_beside(lane, true, compute), Category::bubble,
                                    Category::bubble};
      }
    }
    slots[slot_to_next] = {some(send_next_[i]), Category::exposed_pipeline,
                           Category::exposed_pipeline};
    slots[slot_to_previous] = {some(send_previous_[i]), Category::exposed_pipeline,
                               Category::exposed_pipeline};
    slots[slot_tensor] = {all(tensor_streams_[i]), Category::exposed_tensor, Category::wait};
    for (std::size_t group = 0; group < data_streams_.size(); ++group) {
      slots[static_cast<std::size_t>(slot_of(static_cast<Sharers>(group)))] = {
          all(data_streams_[group][i]), Category::exposed_data, Category::wait};
    }
    // Also while the copies' own reduce-scatters are in progress.
    slots[slot_copies] = {all(copy_streams_[i]), Category::exposed_data, Category::exposed_data};
    for (const auto& [group, slot, category] :
         {std::tuple(dnn::RankGroup::context, slot_context, Category::exposed_context),
          {dnn::RankGroup::expert, slot_expert, Category::exposed_expert},
          {dnn::RankGroup::expert_tensor, slot_expert_tensor, Category::exposed_expert}}) {
      slots[slot] = {all(shared_streams_[static_cast<std::size_t>(group)][i]), category,
                     Category::wait};
    }
    slots[slot_to_host] = {some(to_host_[i]), Category::exposed_offload, Category::exposed_offload};
    slots[slot_from_host] = {some(from_host_[i]), Category::exposed_offload,
                             Category::exposed_offload};
    slots[slot_cpu] = {some(cpu_[i]), Category::optimizer, Category::optimizer};
    slots[slot_host] = {some(host_stream_[i]), Category::host, Category::host};
    slots[slot_embedding] = {all(embedding_streams_[i]), Category::exposed_pipeline,
                             Category::bubble};
    builder_.set_slots(lane.compute, std::move(slots));
    const std::vector<DeviceIndex> held = devices(lane.ranks);
    builder_.set_footprints(lane.compute,
                            {builder_.multiprocessors_of(held), builder_.memory_of(held)});
  }
}

void JobBuilder::make_finish_lines() {
  if (!plan_.is_sample) return;
  result_.replicas = plan_.replicas.count();
  const std::size_t stages = result_.stages.size();
  const std::int32_t program = builder_.program("passes end", [&] {
    ProgramWriter writer;
    ProgramWriter::StepSpec step{.label = "passes end", .category = Category::other};
    for (int stage = 0; stage < static_cast<int>(stages); ++stage) {
      step.waits.push_back({stage, milestones_of(stage).passes_done(schedule().rounds - 1)});
    }
    writer.add(step);
    return writer.take();
  });
  std::vector<std::vector<SystemBuilder::SlotSpec>> slots(
      plan_.replicas.kept().size(),
      std::vector<SystemBuilder::SlotSpec>(stages, {{}, Category::other, Category::other}));
  for (const Lane& lane : result_.lanes) {
    const auto replica = static_cast<std::size_t>(replica_index(lane.ranks.front()));
    slots[replica][static_cast<std::size_t>(lane.stage)].members.push_back({lane.compute});
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const fold::Replica replica = plan_.replicas.kept()[i];
    const StreamId stream = builder_.add_stream(fmt::format("replica {}", replica), program,
                                                grid_.rank({0, 0, static_cast<int>(replica), 0}));
    builder_.stream(stream).size = plan_.replicas.size(i, plan_.replicas.levels());
    builder_.set_slots(stream, std::move(slots[i]));
    const bool is_disturbed =
        std::any_of(plan_.disturbed.begin(), plan_.disturbed.end(),
                    [&](const auto& d) { return d.first <= replica && replica < d.second; });
    const bool is_sampled = builder_.stream(stream).size == 1 && !is_disturbed;
    result_.finish_lines.push_back({stream, is_sampled});
  }
}

// Without a flush nothing ends a round for all: a stream of its own sees when the last stage's
// update has ended.
void JobBuilder::make_round_ends() {
  if (schedule().flushes) return;
  const std::size_t stages = result_.stages.size();
  std::vector<SystemBuilder::SlotSpec> slots(stages, {{}, Category::other, Category::other});
  for (const Lane& lane : result_.lanes) {
    slots[static_cast<std::size_t>(lane.stage)].members.push_back({lane.compute});
  }
  for (int round = 0; round < schedule().rounds - schedule().trailing_rounds(); ++round) {
    ProgramWriter writer;
    ProgramWriter::StepSpec step{.label = "round ends", .category = Category::other};
    for (int stage = 0; stage < static_cast<int>(stages); ++stage) {
      step.waits.push_back({stage, milestones_of(stage).optimizer_done(round)});
    }
    writer.add(step);
    const StreamId stream = builder_.add_stream(fmt::format("end of round {}", round),
                                                builder_.add_program(writer.take()), 0);
    builder_.set_slots(stream, slots);
    result_.round_ends.push_back(stream);
  }
}

int rounds(const Job& job) {
  if (plan::flushes(job.plan)) return 1;
  return job.iterations + 1 + plan::trailing_rounds_of(plan::staleness(job.plan));
}

JobSystem JobBuilder::build() {
  disturb(job_, builder_);
  find_disturbed();
  make_stages();
  choose_replicas();
  result_.is_uneven = plan_.uneven.has_value();
  const std::int64_t ranks = are_unlike() ? grid_.ranks()
                                          : static_cast<std::int64_t>(plan_.replicas.kept_count()) *
                                                (grid_.ranks() / job_.plan.data);
  if (ranks > job_.ranks_max) {
    result_.too_large = TooLarge{ranks, job_.ranks_max};
    return std::move(result_);
  }
  list_ranks();
  make_lanes();
  make_compute();
  make_pipeline();
  make_data();
  make_embedding();
  make_offload();
  connect();
  make_finish_lines();
  make_round_ends();
  result_.system = builder_.take(schedule().flushes ? job_.iterations : 1);
  result_.amounts = SystemBuilder::amounts(result_.system);
  for (std::size_t r = 0; r < merged_amounts_.size(); ++r) {
    result_.amounts[r] += merged_amounts_[r];
  }
  result_.origins = builder_.origins();
  result_.most_through = builder_.most_through();
  for (const ResourceOrigin& origin : result_.origins) result_.alike.push_back(alike(origin));
  return std::move(result_);
}

namespace {

// Whether a link between switches that nothing disturbs can be what a flow waits for.
bool may_fabric_bind(const Job& job, const JobSystem& system) {
  std::set<std::int32_t> disturbed;
  for (const network::CapacityChange& c : system.system.changes) disturbed.insert(c.resource);
  const std::vector<char> may = may_bind(system.system, system.most_through);
  for (std::size_t r = 0; r < may.size(); ++r) {
    const ResourceOrigin& origin = system.origins[r];
    if (!may[r] || origin.kind != ResourceOrigin::Kind::link) continue;
    const bool is_between_switches = job.cluster->tier(origin.index) > 0;
    if (is_between_switches && !disturbed.contains(static_cast<std::int32_t>(r))) return true;
  }
  return false;
}

}  // namespace

JobSystem job_system(const Job& job) {
  JobSystem system = JobBuilder(job, true).build();
  if (!system.is_uneven || system.too_large || !may_fabric_bind(job, system)) return system;
  return JobBuilder(job, false).build();
}

}  // namespace sim::training
