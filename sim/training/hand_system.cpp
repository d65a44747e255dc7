// One stream an operation; a collective gets a gate before it, from which its kernels hold
// multiprocessors.
#include "sim/training/hand_system.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/training/disturbance.h"
#include "sim/training/hand_replicas.h"

namespace sim::training {

namespace {

using StreamId = SystemBuilder::StreamId;

class HandBuilder {
 public:
  explicit HandBuilder(const Job& job) : job_(job), cluster_(*job.cluster), builder_(job) {}

  JobSystem build();

 private:
  DeviceIndex device(const std::string& name) const;
  StreamId add(const std::string& name, ProgramWriter::StepSpec spec,
               std::vector<SystemBuilder::FootprintSpec> footprints, bool waits_for_gate);
  StreamId compute(const HandOperation& operation, const HandOperation::Compute& what);
  StreamId transfer(const HandOperation& operation, const HandOperation::Transfer& what);
  StreamId collective(const HandOperation& operation, const HandOperation::Collective& what);
  const Communicator& group_of(const HandOperation::Collective& what);
  std::int64_t alike(const ResourceOrigin& origin) const;

  const Job& job_;
  const topology::Cluster& cluster_;
  SystemBuilder builder_;
  std::optional<ReplicaPlan> replicas_;  // of all devices
  std::vector<std::unique_ptr<Communicator>> groups_;
  std::map<std::string, StreamId> first_, last_;  // of each operation: its gate or itself; itself
  JobSystem result_;
};

DeviceIndex HandBuilder::device(const std::string& name) const {
  for (const DeviceIndex d : cluster_.devices_of_part(name)) {
    if (cluster_.device_name(d) == name) return d;
  }
  bug("a hand-written operation names an unknown device");
}

StreamId HandBuilder::add(const std::string& name, ProgramWriter::StepSpec spec,
                          std::vector<SystemBuilder::FootprintSpec> footprints,
                          bool waits_for_gate) {
  ProgramWriter writer;
  if (waits_for_gate) {
    ProgramWriter gate;
    gate.add({.label = name + " may start", .waits = {{0, 0}}});
    gate.reach(0);
    first_[name] = builder_.add_stream(name + " gate", builder_.add_program(gate.take()), 0);
  }
  if (!waits_for_gate) spec.waits = {{0, 0}};
  writer.add(spec);
  writer.reach(0);
  const StreamId stream = builder_.add_stream(name, builder_.add_program(writer.take()), 0);
  if (!waits_for_gate) first_[name] = stream;
  last_[name] = stream;
  builder_.set_footprints(stream, std::move(footprints));
  if (waits_for_gate) {
    // What is waited for reserves the first footprint, where the operation reserves anything.
    builder_.set_slots(stream, {{{{first_[name], 0}}, Category::other, Category::other}});
  }
  builder_.stream(stream).is_recorded = true;
  result_.recorded.push_back({stream, 0, name});
  return stream;
}

StreamId HandBuilder::compute(const HandOperation& operation, const HandOperation::Compute& what) {
  const DeviceIndex on = device(what.device);
  const std::int64_t memory =
      std::llround(what.memory * static_cast<double>(builder_.capacity(builder_.memory(on))));
  ProgramWriter::StepSpec spec{.label = operation.name, .work = to_picoseconds(what.duration)};
  spec.weight = memory > 0 ? byte_fair_weight(memory) : weight_one;
  const auto held = std::llround(what.multiprocessors * static_cast<double>(multiprocessors_one));
  if (held > 0) spec.uses.push_back({footprint_multiprocessors, held});
  if (memory > 0) spec.uses.push_back({footprint_memory, memory});
  const std::vector<DeviceIndex> devices = {on};
  return add(operation.name, spec,
             {builder_.multiprocessors_of(devices), builder_.memory_of(devices)}, false);
}

StreamId HandBuilder::transfer(const HandOperation& operation,
                               const HandOperation::Transfer& what) {
  const std::vector<std::pair<DeviceIndex, DeviceIndex>> pair = {
      {device(what.from), device(what.to)}};
  const Path path = side_by_side(cluster_, profile_of(job_, pair[0].first), pair);
  const TransferCost cost = transfer_cost(path, what.bytes);
  ProgramWriter::StepSpec spec{.label = operation.name,
                               .category = Category::exposed_pipeline,
                               .lag = cost.lag,
                               .work = cost.work,
                               .weight = cost.weight};
  if (cost.work > 0) spec.uses.push_back({0, cost.amount});
  return add(operation.name, spec, {builder_.path(path)}, false);
}

// How many like it there are in the cluster; 0: it is not simulated, another stands for it.
std::int64_t HandBuilder::alike(const ResourceOrigin& origin) const {
  if (!replicas_) return 1;
  if (origin.kind != ResourceOrigin::Kind::link) return replicas_->alike(0, origin.index);
  return replicas_->alike(static_cast<std::size_t>(cluster_.tier(origin.index)),
                          cluster_.first_device(origin.index));
}

const Communicator& HandBuilder::group_of(const HandOperation::Collective& what) {
  if (replicas_) {
    if (groups_.empty()) groups_.push_back(whole_cluster(job_, *replicas_));
    return *groups_.front();
  }
  std::vector<DeviceIndex> members;
  for (const std::string& name : what.devices) {
    const std::vector<DeviceIndex> found = cluster_.devices_of_part(name);
    members.insert(members.end(), found.begin(), found.end());
  }
  groups_.push_back(
      std::make_unique<Communicator>(cluster_, profile_of(job_, members.front()), members));
  return *groups_.back();
}

StreamId HandBuilder::collective(const HandOperation& operation,
                                 const HandOperation::Collective& what) {
  const Communicator& group = group_of(what);
  const auto& p = profile_of(job_, group.members().front());
  const auto [path, cost] = group.cost(what.operation, what.bytes, what.forced);
  const bool is_ideal = p.origin() == calibrate::profile::Origin::ideal;
  const int multiprocessors = std::max(p.device().multiprocessors, 1);
  const double share = what.multiprocessors.value_or(
      is_ideal ? 0 : static_cast<double>(path->channels) / multiprocessors);
  ProgramWriter::StepSpec spec{.label = operation.name,
                               .category = Category::exposed_data,
                               .lag = cost.lag,
                               .work = cost.work,
                               .weight = cost.weight};
  spec.reserve = std::llround(share * static_cast<double>(multiprocessors_one));
  spec.waits = {{0, 0, spec.reserve > 0}};
  if (cost.work > 0) spec.uses.push_back({1, cost.amount});
  std::vector<DeviceIndex> made;
  for (const DeviceIndex member : group.members()) {
    if (alike({ResourceOrigin::Kind::multiprocessors, member}) > 0) made.push_back(member);
  }
  const auto bearers = [this](const ResourceOrigin& o, const SystemBuilder::AddBearer& add_bearer) {
    if (alike(o) > 0) add_bearer(o, 1);
  };
  return add(operation.name, spec,
             {builder_.multiprocessors_of(made), builder_.path(*path, bearers)}, true);
}

JobSystem HandBuilder::build() {
  replicas_ = hand_replicas(job_);
  disturb(job_, builder_);
  for (const HandOperation& operation : job_.operations) {
    std::visit(
        [&](const auto& what) {
          using What = std::decay_t<decltype(what)>;
          if constexpr (std::is_same_v<What, HandOperation::Compute>) {
            compute(operation, what);
          } else if constexpr (std::is_same_v<What, HandOperation::Transfer>) {
            transfer(operation, what);
          } else {
            collective(operation, what);
          }
        },
        operation.what);
  }
  for (const HandOperation& operation : job_.operations) {
    SystemBuilder::SlotSpec slot;
    for (const std::string& name : operation.after) slot.members.push_back({last_.at(name)});
    builder_.set_slots(first_.at(operation.name), {slot});
  }
  result_.system = builder_.take(job_.iterations);
  result_.origins = builder_.origins();
  result_.most_through = builder_.most_through();
  for (const ResourceOrigin& origin : result_.origins) result_.alike.push_back(alike(origin));
  result_.amounts = SystemBuilder::amounts(result_.system);
  return std::move(result_);
}

}  // namespace

JobSystem hand_system(const Job& job) { return HandBuilder(job).build(); }

}  // namespace sim::training
