// The stream of a rank group: one collective after the other, each when every member has reached
// its milestones.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "sim/training/job_builder.h"

namespace sim::training {

namespace {

// As bytes: keys are compared in full, and nobody reads them.
void add_numbers(std::string& key, std::initializer_list<std::int64_t> numbers) {
  for (const std::int64_t number : numbers) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
}

std::pair<const Path*, TransferCost> cost_of(const Communicator& group, const GroupStep& step) {
  if (step.skew) return group.skewed(step.size, *step.skew);
  return group.group_cost(step.operation, step.size);
}

}  // namespace

// One slot a stage; each lane reserves the devices that it has in the group.
JobBuilder::GroupMembers JobBuilder::members_of(const GroupSpec& spec) {
  std::map<int, std::vector<DeviceIndex>> held;  // [lane]
  std::vector<int> lanes;
  for (const DeviceIndex member : spec.group->members()) {
    const auto found = lane_of_rank_.find(member);
    if (found == lane_of_rank_.end()) continue;  // listed for the ring only
    if (held[found->second].empty()) lanes.push_back(found->second);
    held[found->second].push_back(member);
  }
  GroupMembers members;
  for (const int index : lanes) {
    const Lane& lane = result_.lanes[static_cast<std::size_t>(index)];
    const auto same = std::find(members.stages.begin(), members.stages.end(), lane.stage);
    const auto slot = static_cast<std::size_t>(same - members.stages.begin());
    if (same == members.stages.end()) {
      members.stages.push_back(lane.stage);
      members.slots.push_back({{}, spec.transfer, spec.late});
    }
    const StreamId stream =
        spec.member_streams ? spec.member_streams->at(held.at(index).front()) : lane.compute;
    members.slots[slot].members.push_back(
        {stream, static_cast<std::int32_t>(members.footprints.size())});
    members.footprints.push_back(builder_.multiprocessors_of(held.at(index)));
  }
  return members;
}

network::Program JobBuilder::group_program(const GroupSpec& spec, const std::vector<int>& stages,
                                           const std::vector<TransferCost>& costs,
                                           const std::vector<std::int32_t>& footprint,
                                           std::int64_t reserve) {
  ProgramWriter writer;
  int reached = 0;
  // Milestones of what other streams run are reached with what came before here.
  const auto reach_up_to = [&](int number) {
    while (reached < number) writer.reach(reached++);
  };
  for (std::size_t i = 0; i < spec.steps.size(); ++i) {
    if (spec.reached) reach_up_to((*spec.reached)[i]);
    ProgramWriter::StepSpec step{.label = spec.steps[i].label,
                                 .category = spec.steps[i].category,
                                 .lag = costs[i].lag,
                                 .work = costs[i].work,
                                 .weight = costs[i].weight,
                                 .reserve = reserve};
    for (std::size_t slot = 0; slot < stages.size(); ++slot) {
      for (const int milestone : spec.milestones(i, stages[slot])) {
        step.waits.push_back({static_cast<std::int32_t>(slot), milestone, reserve > 0});
      }
    }
    if (costs[i].work > 0) step.uses.push_back({footprint[i], costs[i].amount});
    writer.add(step);
    writer.reach(reached++);
  }
  reach_up_to(spec.reached_count);
  return writer.take();
}

StreamId JobBuilder::group_stream(const GroupSpec& spec) {
  GroupMembers members = members_of(spec);
  std::vector<const Path*> paths;
  const auto footprint_of = [&](const Path* path) {
    const auto found = std::find(paths.begin(), paths.end(), path);
    const auto place = static_cast<std::int32_t>(found - paths.begin());
    if (found == paths.end()) paths.push_back(path);
    return place;
  };
  const std::int64_t reserve =
      std::llround(collective_share(static_cast<int>(spec.group->members().front())) *
                   static_cast<double>(multiprocessors_one));
  std::string key = spec.key + '\0';
  add_numbers(key, {static_cast<std::int64_t>(members.slots.size()), reserve});
  std::vector<TransferCost> costs;
  std::vector<std::int32_t> footprint;  // [step]
  for (const GroupStep& step : spec.steps) {
    const auto [path, cost] = cost_of(*spec.group, step);
    costs.push_back(cost);
    footprint.push_back(footprint_of(path));
    add_numbers(key, {cost.lag, cost.work, cost.amount, footprint.back()});
  }
  const std::int32_t program = builder_.program(
      key, [&] { return group_program(spec, members.stages, costs, footprint, reserve); });
  const StreamId stream = builder_.add_stream(spec.name, program, spec.owner);
  builder_.stream(stream).size = spec.size;
  // Paths come first, so that programs do not depend on the number of members.
  std::vector<SystemBuilder::FootprintSpec> footprints;
  for (const Path* path : paths) footprints.push_back(builder_.path(*path, spec.bearers_of));
  for (SystemBuilder::SlotSpec& slot : members.slots) {
    for (SystemBuilder::MemberSpec& member : slot.members) {
      member.footprint += static_cast<std::int32_t>(paths.size());
    }
  }
  std::move(members.footprints.begin(), members.footprints.end(), std::back_inserter(footprints));
  builder_.set_slots(stream, std::move(members.slots));
  builder_.set_footprints(stream, std::move(footprints));
  return stream;
}

}  // namespace sim::training
