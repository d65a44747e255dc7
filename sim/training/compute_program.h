// The program of a lane's compute stream, and of the host and rank group streams that go with it.
//
// A lane is what runs in lockstep: all ranks of a tensor group where nothing can tell them apart
// (merged), or one rank.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/training/communication.h"
#include "sim/training/data_plan.h"
#include "sim/training/jitter.h"
#include "sim/training/program_writer.h"
#include "sim/training/rank_group.h"

namespace sim::training {

// Slots and footprints of a compute stream, in this order.
enum ComputeSlot : std::int32_t {
  slot_from_previous,
  slot_from_next,
  slot_to_next,
  slot_to_previous,
  slot_tensor,
  slot_data,
  slot_host,
  slot_embedding,
  slot_previous_compute,
  slot_next_compute,
  slot_expert_data,
  slot_context,
  slot_expert,
  slot_expert_tensor,
  slot_copies,
  slot_to_host,
  slot_from_host,
  slot_cpu,
  compute_slot_count  // and behind them one for each of Sharers from `further` on
};
constexpr std::int32_t slot_of(Sharers sharers) {
  if (sharers == Sharers::data) return slot_data;
  if (sharers == Sharers::expert_data) return slot_expert_data;
  return compute_slot_count + static_cast<std::int32_t>(index_of(sharers)) -
         static_cast<std::int32_t>(index_of(Sharers::further));
}
enum ComputeFootprint : std::int32_t { footprint_multiprocessors, footprint_memory };
// Of a host stream.
enum HostFootprint : std::int32_t { footprint_launches };

// Milestones of a compute program. Those before `tensor_base` are the same for every lane of a
// stage.
struct Milestones {
  // `shared_count`: collectives of rank groups that may join several lanes.
  Milestones(const plan::Schedule& schedule, int event_count, int shared_count)
      : micro_batches(schedule.micro_batches * schedule.rounds),
        virtual_stages(schedule.virtual_stages),
        rounds(schedule.rounds),
        events(event_count),
        shared(shared_count) {}

  int micro_batches, virtual_stages, rounds, events, shared;

  int forward(int virtual_stage, int micro_batch) const {
    return virtual_stage * micro_batches + micro_batch;
  }
  int backward(int virtual_stage, int micro_batch) const {
    return micro_batches * virtual_stages + forward(virtual_stage, micro_batch);
  }
  int event(int index) const { return 2 * micro_batches * virtual_stages + index; }
  int passes_done(int round) const { return event(events) + 2 * round; }
  int optimizer_done(int round) const { return event(events) + 2 * round + 1; }
  int shared_base() const { return event(events) + 2 * rounds; }
  int tensor_base() const { return shared_base() + shared; }
};

// A collective of a rank group, as its stream runs it.
struct GroupStep {
  collective::Operation operation = collective::Operation::all_reduce;
  Bytes size;
  std::string label;
  Category category = Category::exposed_tensor;
  int milestone = 0;  // of the lane's compute program, when it may start
  std::optional<Skew> skew = {};
  TensorPart part = {};
};

// The ranks of a tensor group, and parts of it that layers of another degree have: of those side by
// side the first, which cost alike.
struct TensorGroup {
  std::shared_ptr<const Communicator> whole;
  std::map<TensorPart, std::shared_ptr<const Communicator>> parts;

  const Communicator& of(const TensorPart& part) const {
    return part.ranks == 0 ? *whole : *parts.at(part);
  }
};
// [part, operation, size]
using MergedCollectives = std::map<std::tuple<TensorPart, collective::Operation, double>, int>;

// What a device has throughout the run.
struct DeviceCapacity {
  std::int64_t multiprocessors = multiprocessors_one;
  std::int64_t memory = INT64_MAX;  // bytes/s
  bool operator==(const DeviceCapacity&) const = default;
};

struct LaneInput {
  const plan::Schedule* schedule = nullptr;
  const dnn::SoftwareStack* stack = nullptr;
  int stage = 0;
  int shared_collectives = 0;                             // of the stage
  const std::vector<std::vector<Unit>>* units = nullptr;  // [virtual stage]
  const StageDataPlan* data = nullptr;
  const TensorGroup* tensor = nullptr;  // null: one tensor rank
  CostedOperator optimizer;
  DeviceCapacity capacity;         // of the slowest of the lane's devices
  bool always_operators = false;   // never merges operators
  bool has_slow_launches = false;  // its host's launches load footprint_launches
  bool has_embedding_reduction = false;
  // What a blocking receive takes once both sides have come to it; 0: receives do not block.
  Picoseconds receive_from_previous = 0, receive_from_next = 0;
  double multiprocessors_of_collective = 0;  // share of a device that a collective's kernel holds
  // [micro-batch of an iteration] draw of its lengths; null: all are alike.
  const std::vector<int>* lengths = nullptr;
  // Micro-batches of an iteration where experts are shuffled for each; 0: they are not.
  int routing_draws = 0;
  LaneJitter* jitter = nullptr;  // null: every operator takes its own duration
};

struct LanePrograms {
  network::Program compute, host;  // host: empty when launches take no time
  // [RankGroup] in order; of the tensor group none when merged everywhere.
  std::array<std::vector<GroupStep>, rank_group_count> group_steps;
  const std::vector<GroupStep>& steps_of(dnn::RankGroup group) const {
    return group_steps[static_cast<std::size_t>(group)];
  }
  // Collectives inside merged steps, for the loads of links: how often each.
  MergedCollectives merged;
  std::vector<std::int32_t> pass_ends;  // [pass] steps of `compute` up to its end
  double flops = 0;                     // of one rank
  std::array<Picoseconds, 4> family{};  // [CostedOperator::Family] work of one rank
};

LanePrograms lane_programs(const LaneInput& input);

}  // namespace sim::training
