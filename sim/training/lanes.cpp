// Lanes: which ranks run as one, and the compute, host and tensor programs of each kind of lane.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/training/job_builder.h"
#include "sim/training/segment.h"

namespace sim::training {

namespace {

const Communicator* whole_of(const std::shared_ptr<const TensorGroup>& tensor) {
  return tensor ? tensor->whole.get() : nullptr;
}
bool has_parts(const std::shared_ptr<const TensorGroup>& tensor) {
  return tensor && !tensor->parts.empty();
}

}  // namespace

// Ranks that have other experts have other rows where the routing is not even.
int JobBuilder::expert_rank(int rank) const {
  if (job_.plan.routing.is_even()) return 0;
  return grid_.coordinate(plan::ExpertDimension::expert, rank);
}

// [micro-batch] draws of its replica; null: lengths make no difference.
const std::vector<int>* JobBuilder::lengths_of(int rank) const {
  if (!packed_) return nullptr;
  return &packed_->of_replica(grid_.coordinates(rank).data);
}

int JobBuilder::expert_group(int rank) const {
  const plan::Routing& routing = job_.plan.routing;
  if (routing.is_even() || routing.are_groups_alike) return 0;
  return grid_.coordinate(plan::ExpertDimension::data, rank);
}

const JobCosts& JobBuilder::costs(int rank) {
  const std::string type(cluster_.device(rank).device_type);
  const Job& job = job_at(stage_of(rank));
  const auto [entry, is_new] =
      costs_.try_emplace({type, expert_rank(rank), expert_group(rank), job.plan.tensor});
  if (!is_new) return entry->second;
  entry->second = job_costs(job, profile(rank), expert_rank(rank), expert_group(rank));
  for (const std::string& name : entry->second.extrapolated) {
    std::string text = fmt::format("{}: {}", type, name);
    auto& all = result_.extrapolated;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }
  return entry->second;
}

// A stage's share of a device that a collective kernel holds.
double JobBuilder::collective_share(int rank) const {
  const Profile& p = profile(rank);
  const int multiprocessors = p.device().multiprocessors;
  if (multiprocessors == 0 || p.origin() == calibrate::profile::Origin::ideal) return 0;
  return std::min(0.5, static_cast<double>(p.network().channels) / multiprocessors);
}

// A device whose capacities only change at the start has them throughout.
void JobBuilder::find_disturbed() {
  std::set<std::int32_t> varying;
  for (const network::CapacityChange& change : builder_.changes()) {
    const ResourceOrigin origin = builder_.origins()[static_cast<std::size_t>(change.resource)];
    if (origin.kind == ResourceOrigin::Kind::link) {
      disturbed_links_.insert(origin.index);
      continue;
    }
    const auto [entry, is_new] = disturbed_devices_.try_emplace(origin.index, DeviceCapacity{});
    if (origin.kind == ResourceOrigin::Kind::launches) {
      slow_launches_.insert(origin.index);
      varying.insert(origin.index);
      continue;
    }
    DeviceCapacity& capacity = *entry->second;
    if (is_new) capacity.memory = builder_.capacity(builder_.memory(origin.index));
    const bool is_compute = origin.kind == ResourceOrigin::Kind::multiprocessors;
    (is_compute ? capacity.multiprocessors : capacity.memory) = change.capacity;
    if (change.at > 0 || change.capacity == 0) varying.insert(origin.index);
  }
  for (const std::int32_t device : varying) disturbed_devices_[device] = std::nullopt;
}

bool JobBuilder::is_any_disturbed(const std::vector<int>& ranks) const {
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](int rank) { return disturbed_devices_.contains(rank); });
}

std::optional<DeviceCapacity> JobBuilder::constant_capacity(const std::vector<int>& ranks,
                                                            const Communicator* tensor) {
  DeviceCapacity least, slowest;
  least.memory = slowest.memory = builder_.capacity(builder_.memory(ranks.front()));
  for (const int rank : ranks) {
    const auto found = disturbed_devices_.find(rank);
    if (found == disturbed_devices_.end()) continue;
    if (!found->second) return std::nullopt;
    const DeviceCapacity& capacity = *found->second;
    least.multiprocessors = std::min(least.multiprocessors, capacity.multiprocessors);
    least.memory = std::min(least.memory, capacity.memory);
    if (capacity == least) slowest = least;
  }
  if (!(slowest == least)) return std::nullopt;  // one device's compute, another's memory
  if (!tensor || disturbed_links_.empty()) return least;
  const Path& path = *tensor->cost(collective::Operation::all_reduce, Bytes(1e6)).first;
  const bool is_disturbed = std::any_of(path.links.begin(), path.links.end(), [&](const auto& l) {
    return disturbed_links_.count(l.first) > 0;
  });
  if (is_disturbed) return std::nullopt;
  return least;
}

void JobBuilder::make_lane(int stage, std::vector<int> ranks, bool is_merged,
                           std::shared_ptr<const TensorGroup> tensor) {
  Lane lane;
  lane.stage = stage;
  lane.is_merged = is_merged;
  const auto replica = static_cast<std::size_t>(replica_index(ranks.front()));
  lane.size = plan_.replicas.size(replica, plan_.replicas.levels());
  for (const int rank : ranks) lane_of_rank_[rank] = static_cast<int>(result_.lanes.size());
  lane.ranks = std::move(ranks);
  result_.lanes.push_back(std::move(lane));
  tensor_.push_back(std::move(tensor));
}

void JobBuilder::make_lanes() {
  for (const int first : ranks_) {
    if (grid_.coordinates(first).tensor != 0) continue;
    const std::vector<int> group = grid_.group(plan::Dimension::tensor, first);
    const int stage = stage_of(group.front());
    const auto tensor = tensor_group(group);
    const auto type = [&](int rank) { return cluster_.device(rank).device_type; };
    const bool is_uniform = std::all_of(group.begin(), group.end(), [&](int rank) {
      return type(rank) == type(group.front()) && expert_rank(rank) == expert_rank(group.front()) &&
             expert_group(rank) == expert_group(group.front());
    });
    // With draws, the slowest of a group with a disturbed device is not known before.
    // Nor do ranks that collectives of other groups hold up by themselves run in lockstep.
    const bool has_others = shared_collectives_[static_cast<std::size_t>(stage)] > 0;
    const bool is_mixed = ((job_.jitter.is_on() || has_others) && is_any_disturbed(group)) ||
                          (has_parts(tensor) && !are_parts_alike(group));
    const bool is_merged = group.size() > 1 && job_.fidelity == Fidelity::segments && is_uniform &&
                           !is_mixed && constant_capacity(group, whole_of(tensor));
    if (is_merged) {
      make_lane(stage, group, true, tensor);
      continue;
    }
    for (const int rank : group) make_lane(stage, {rank}, false, tensor);
  }
}

std::string lane_label(const Lane& lane, const char* stream) {
  if (lane.ranks.size() == 1) return fmt::format("rank {} {}", lane.ranks.front(), stream);
  return fmt::format("ranks {}..{} {}", lane.ranks.front(), lane.ranks.back(), stream);
}

// Lanes with equal keys have equal programs.
std::string JobBuilder::lane_key(int index) {
  const Lane& lane = result_.lanes[static_cast<std::size_t>(index)];
  const auto& tensor = tensor_[static_cast<std::size_t>(index)];
  const std::string_view type = cluster_.device(lane.ranks.front()).device_type;
  const auto capacity = constant_capacity(lane.ranks, whole_of(tensor));
  std::string key = fmt::format("{} {} {} {} {}", lane.stage, type, expert_rank(lane.ranks.front()),
                                lane.is_merged, job_.fidelity == Fidelity::operators || !capacity);
  if (capacity) key += fmt::format(" {} {}", capacity->multiprocessors, capacity->memory);
  key += fmt::format(" group {}", expert_group(lane.ranks.front()));
  if (has_slow_launches(lane)) key += " slow launches";
  if (tensor) {
    key += " " + signature(*tensor->whole);
    for (const auto& [part, group] : tensor->parts) key += " " + signature(*group);
  }
  key += fmt::format(" {} {}", receive_cost(index, false), receive_cost(index, true));
  if (const auto* lengths = lengths_of(lane.ranks.front())) {
    key += fmt::format(" lengths {}", fmt::join(*lengths, " "));
  }
  return key;
}

// Groups with equal places are asked once.
const std::string& JobBuilder::signature(const Communicator& group) {
  const auto [entry, is_new] = signatures_.try_emplace(places_of(cluster_, group.members()));
  if (is_new) entry->second = fmt::format("{}", fmt::join(group.signature(), " "));
  return entry->second;
}

// Parameters that one rank of a stage updates.
double JobBuilder::optimized_parameters(int stage,
                                        const std::vector<std::vector<Unit>>& units) const {
  const plan::Plan& plan = stage_at(stage).plan;
  const double per_parameter = job_.stack.gradient_fp32 ? 4 : shard_of(job_).bytes_per_element;
  const auto holdings = plan::holdings(plan);
  std::vector<double> held(holdings.size(), 0);
  double experts = 0;
  for (const auto& list : units) {
    for (const Unit& unit : list) {
      held[unit.costs->holding] += unit.costs->held.front().gradients / per_parameter;
      experts += unit.costs->held_by(Sharers::expert_data).gradients / per_parameter;
    }
  }
  const bool is_sharded = plan.sharding != plan::Sharding::none;
  double result = is_sharded ? experts / plan.expert_sharers() : experts;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const bool is_shared = holdings[i].sharding != plan::Sharding::none;
    const int ranks = plan.shard_ranks() * (plan.tensor / holdings[i].tensor);
    result += is_shared ? held[i] / ranks : held[i];
  }
  return result;
}

LanePrograms JobBuilder::programs_of(int index, LaneJitter* jitter) {
  const Lane& lane = result_.lanes[static_cast<std::size_t>(index)];
  const int rank = lane.ranks.front();
  LaneInput input;
  input.schedule = &schedule_at(lane.stage);
  input.stack = &job_.stack;
  input.stage = stage_at(lane.stage).place;
  input.units = &units(lane.stage, rank);
  input.data = &data_plans_[static_cast<std::size_t>(lane.stage)];
  input.shared_collectives = shared_collectives_[static_cast<std::size_t>(lane.stage)];
  input.tensor = tensor_[static_cast<std::size_t>(index)].get();
  const double on_device = 1 - job_.plan.offload.optimizer;
  input.optimizer = optimizer_cost(job_, profile(rank),
                                   on_device * optimized_parameters(lane.stage, *input.units));
  const bool is_alone = input.tensor && lane.ranks.size() == 1;
  const auto capacity =
      constant_capacity(lane.ranks, whole_of(tensor_[static_cast<std::size_t>(index)]));
  if (capacity) input.capacity = *capacity;
  input.always_operators = job_.fidelity == Fidelity::operators || is_alone || !capacity;
  input.has_slow_launches = has_slow_launches(lane);
  input.has_embedding_reduction = has_embedding_reduction() && holds_embedding(lane.stage);
  input.receive_from_previous = receive_cost(index, false);
  input.receive_from_next = receive_cost(index, true);
  input.multiprocessors_of_collective = collective_share(rank);
  input.lengths = lengths_of(rank);
  const plan::Routing& routing = job_.plan.routing;
  const bool is_drawn = routing.draw == plan::Routing::Draw::per_micro_batch;
  input.routing_draws = !routing.is_even() && is_drawn ? job_.plan.micro_batches() : 0;
  input.jitter = jitter;
  return lane_programs(input);
}

void JobBuilder::record(StreamId stream, int lane, std::string name) {
  builder_.stream(stream).is_recorded = true;
  result_.recorded.push_back({stream, lane, std::move(name)});
}

void JobBuilder::record_first(StreamId stream, const std::vector<int>& ranks,
                              const std::string& name) {
  for (const int rank : ranks) {
    const Lane& lane = result_.lanes[static_cast<std::size_t>(lane_at(rank))];
    if (rank == lane.ranks.front() && is_recorded(lane)) {
      return record(stream, lane_at(rank), name);
    }
  }
}

// What merged steps send is not seen by the engine; it counts for the loads of the links.
void JobBuilder::count_merged(int index, const LanePrograms& programs) {
  for (const auto& [what, times] : programs.merged) {
    const auto& [part, operation, size] = what;
    const TensorGroup& tensor = *tensor_[static_cast<std::size_t>(index)];
    if (part.ranks == 0) {
      count_merged(*tensor.whole, operation, size, times);
      continue;
    }
    const auto& members = tensor.whole->members();
    for (const auto& ranks : parts_of({members.begin(), members.end()}, part)) {
      count_merged({cluster_, profile(ranks.front()), devices(ranks)}, operation, size, times);
    }
  }
}

void JobBuilder::count_merged(const Communicator& group, collective::Operation operation,
                              double size, int times) {
  const Path& path = *group.group_cost(operation, Bytes(size)).first;
  const auto bearers_of = bearers_for(static_cast<int>(group.members().front()));
  for (const auto& [link, bytes] : path.links) {
    const Int128 amount =
        Int128{std::llround(bytes * size * SystemBuilder::amounts_per_byte)} * times;
    bearers_of({ResourceOrigin::Kind::link, link},
               [&](const ResourceOrigin& bearer, std::int64_t count) {
                 const auto resource = static_cast<std::size_t>(builder_.link(bearer.index));
                 if (merged_amounts_.size() <= resource) merged_amounts_.resize(resource + 1, 0);
                 merged_amounts_[resource] += amount * count;
               });
  }
}

// Lanes with draws have programs of their own, the others one a kind.
std::int32_t JobBuilder::compute_program(int index, const std::string& key,
                                         LanePrograms& programs) {
  const Lane& lane = result_.lanes[static_cast<std::size_t>(index)];
  if (!has_draws(lane)) {
    return builder_.program("compute " + key, [&] { return std::move(programs.compute); });
  }
  LaneJitter jitter(job_.jitter, lane.ranks);
  return builder_.add_program(programs_of(index, &jitter).compute);
}

void JobBuilder::make_compute() {
  tensor_streams_.resize(result_.lanes.size());
  host_stream_.assign(result_.lanes.size(), -1);
  for (std::size_t i = 0; i < result_.lanes.size(); ++i) {
    Lane& lane = result_.lanes[i];
    const int index = static_cast<int>(i);
    const std::string key = lane_key(index);
    auto made = made_.find(key);
    if (made == made_.end()) made = made_.emplace(key, programs_of(index, nullptr)).first;
    made_of_lane_.push_back(&*made);
    LanePrograms& programs = made->second;
    lane.flops = programs.flops * static_cast<double>(lane.ranks.size()) / schedule().rounds;
    lane.family = programs.family;
    for (Picoseconds& work : lane.family) work /= schedule().rounds;
    count_merged(index, programs);
    lane.compute = builder_.add_stream(lane_label(lane, "compute"),
                                       compute_program(index, key, programs), lane.ranks.front());
    builder_.stream(lane.compute).size = lane.size;
    builder_.stream(lane.compute).is_accounted = true;
    const bool is_recorded = recorded_stages_.insert(lane.stage).second;
    if (is_recorded) {
      record(lane.compute, index, "compute");
      result_.recorded.back().pass_ends = programs.pass_ends;
    }
    if (!programs.host.steps.empty()) {
      host_stream_[i] = builder_.add_stream(
          lane_label(lane, "host"), builder_.program("host " + key, [&] { return programs.host; }),
          lane.ranks.front());
      builder_.stream(host_stream_[i]).size = lane.size;
      builder_.set_slots(host_stream_[i], {{{{lane.compute}}, Category::other, Category::other}});
      if (has_slow_launches(lane)) {
        builder_.set_footprints(host_stream_[i], {{{builder_.launches(lane.ranks.front())}}});
      }
    }
    const bool has_tensor_steps = !programs.steps_of(dnn::RankGroup::tensor).empty();
    if (has_tensor_steps && lane.is_merged) make_tensor_streams(index, programs, key);
  }
  make_unmerged_tensor_streams();
  for (const auto group :
       {dnn::RankGroup::context, dnn::RankGroup::expert, dnn::RankGroup::expert_tensor}) {
    make_shared_streams(group);
  }
}

}  // namespace sim::training
