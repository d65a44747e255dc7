// Paths from the hops of a collective, costs from the profile's curves or the structured law.
#include "sim/training/communication.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/profile/assumed_network.h"

namespace sim::training {

namespace profile = calibrate::profile;
using collective::Algorithm;
using collective::Operation;
using collective::Protocol;

namespace {

profile::CollectiveKind kind_of(Operation operation) {
  switch (operation) {
    case Operation::all_reduce:
      return profile::CollectiveKind::all_reduce;
    case Operation::all_gather:
      return profile::CollectiveKind::all_gather;
    case Operation::reduce_scatter:
      return profile::CollectiveKind::reduce_scatter;
    case Operation::all_to_all:
      return profile::CollectiveKind::all_to_all;
    case Operation::broadcast:
      return profile::CollectiveKind::broadcast;
    case Operation::send_receive:
      return profile::CollectiveKind::send_receive;
  }
  bug("unknown collective");
}

collective::Hardware::Generation generation_of(const profile::DeviceType& device) {
  const auto starts = [&](const char* prefix) { return device.name.rfind(prefix, 0) == 0; };
  using Generation = collective::Hardware::Generation;
  if (starts("v100")) return Generation::volta;
  if (starts("a100") || starts("a10") || starts("a40")) return Generation::ampere;
  if (starts("h100") || starts("h200") || starts("h800") || starts("h20")) {
    return Generation::hopper;
  }
  if (starts("b200") || starts("b300") || starts("gb")) return Generation::blackwell;
  return Generation::other;
}

}  // namespace

Communicator::Communicator(const topology::Cluster& cluster, const Profile& profile,
                           std::vector<DeviceIndex> members, collective::Layout layout)
    : cluster_(&cluster),
      profile_(&profile),
      members_(std::move(members)),
      layout_(std::move(layout)) {
  inside_domain_ = true;
  for (const DeviceIndex member : members_) {
    const topology::Device device = cluster.device(member);
    const topology::Device first = cluster.device(members_.front());
    layout_.host_of.push_back(device.host);
    inside_domain_ =
        inside_domain_ && device.domain == first.domain && device.device_type == first.device_type;
  }
}

bool Communicator::is_ring(Operation operation, Bytes size,
                           const collective::Forced& forced) const {
  const auto is_round = [](collective::Algorithm algorithm) {
    return algorithm == Algorithm::ring || algorithm == Algorithm::hierarchical;
  };
  if (forced.algorithm) return is_round(*forced.algorithm);
  if (profile_->origin() == profile::Origin::ideal) {
    return is_round(collective::algorithms(operation).front());
  }
  return is_round(collective::choose(operation, layout_, hardware(), size, forced).algorithm);
}

int Communicator::channels() const { return profile_->network().channels; }

const collective::Hardware& Communicator::hardware() const {
  if (hardware_) return *hardware_;
  collective::Hardware& hardware = hardware_.emplace();
  hardware.generation = generation_of(profile_->device());
  hardware.has_nvlink = hardware.has_nvswitch = false;
  hardware.inside_domain = inside_domain_;
  hardware.has_sharp = cluster_->has_sharp_fabric();
  hardware.has_nvls = std::all_of(members_.begin(), members_.end(), [&](DeviceIndex member) {
    return cluster_->device(member).sharp;
  });
  int members_of_first_host = 0;
  for (const int host : layout_.host_of) members_of_first_host += host == layout_.host_of.front();
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const topology::Route route = cluster_->route(members_[0], members_[i]);
    if (route.inside_domain) {
      hardware.intra = route.capacity;
      hardware.has_nvlink = hardware.has_nvswitch = true;
    } else if (layout_.host_of[i] == layout_.host_of[0]) {
      hardware.intra = std::max(hardware.intra, route.capacity);
    } else {
      hardware.inter = route.capacity * members_of_first_host;
      break;
    }
  }
  if (hardware.intra.value() == 0) hardware.intra = hardware.inter;
  return hardware;
}

// Each member to the next, the last to the first, all at once.
const Path& Communicator::shift() const {
  if (shift_) return *shift_;
  std::vector<std::pair<DeviceIndex, DeviceIndex>> pairs;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    pairs.emplace_back(members_[i], members_[(i + 1) % members_.size()]);
  }
  shift_ = std::make_unique<Path>(side_by_side(*cluster_, *profile_, pairs));
  return *shift_;
}

std::pair<const Path*, TransferCost> Communicator::group_cost(Operation operation,
                                                              Bytes size) const {
  if (operation != Operation::send_receive) return cost(operation, size);
  return {&shift(), transfer_cost(shift(), size)};
}

const Path& Communicator::path(Operation operation, collective::Choice choice) const {
  for (const Cached& cached : paths_) {
    if (cached.operation == operation && cached.choice == choice) {
      return *cached.path;
    }
  }
  auto path = std::make_unique<Path>();
  auto network = profile_->network();
  const bool is_nvls_tree = choice.algorithm == Algorithm::nvls_tree;
  if (is_nvls_tree || choice.algorithm == Algorithm::nvls) {
    network.intra_efficiency = network.nvls_efficiency;
  }
  // Enough bytes that no share is rounded away; everything is linear in the size.
  const double size = 1e9;
  const collective::Traffic traffic =
      collective::traffic(operation, choice.algorithm, layout_, Bytes(size));
  std::vector<DeviceHop> hops;
  for (const collective::Hop& hop : traffic.hops) {
    hops.push_back({members_[static_cast<std::size_t>(hop.source)],
                    members_[static_cast<std::size_t>(hop.target)], hop.bytes.value() / size});
  }
  const bool reduces = operation == Operation::all_reduce || operation == Operation::reduce_scatter;
  const auto [intra, inter] =
      add_hops(*cluster_, network, hops, collective::protocol_overhead(choice.protocol),
               reduces ? memory_passes_reduce : memory_passes_copy, *path);
  path->latency =
      network.base + traffic.intra_steps * (network.step_intra + intra) +
      traffic.inter_steps * ((is_nvls_tree ? network.step_nvls_tree : network.step_inter) + inter);
  if (is_nvls_tree) path->fill = traffic.inter_steps * network.fill_nvls_tree;
  if (choice.algorithm == Algorithm::pat) {
    path->latency += layout_.ranks() * network.pat_rank;
    path->seconds_per_byte /= network.pat_efficiency;
  }
  path->channels = choice.channels;
  paths_.push_back({operation, choice, std::move(path)});
  return *paths_.back().path;
}

TransferCost transfer_cost(const Path& path, Bytes size) {
  TransferCost cost;
  cost.lag = to_picoseconds(path.latency);
  const double seconds = size.value() * path.seconds_per_byte;
  cost.work = to_picoseconds(Seconds(seconds));
  if (cost.work > 0) {
    cost.amount = to_bytes_per_second(BytesPerSecond(path.reference * size.value() / seconds));
    cost.weight = byte_fair_weight(cost.amount);
  }
  return cost;
}

std::pair<const Path*, TransferCost> Communicator::cost(Operation operation, Bytes size,
                                                        const collective::Forced& forced) const {
  for (const KnownCost& known : costs_) {
    if (known.operation == operation && known.size == size.value() && known.forced == forced) {
      return known.answer;
    }
  }
  const auto answer = computed_cost(operation, size, forced);
  constexpr std::size_t remembered_max = 256;
  if (costs_.size() < remembered_max) costs_.push_back({operation, size.value(), forced, answer});
  return answer;
}

collective::Choice Communicator::choice(Operation operation, Bytes size,
                                        const collective::Forced& forced) const {
  if (profile_->origin() != profile::Origin::ideal) {
    collective::Choice chosen = collective::choose(operation, layout_, hardware(), size, forced);
    chosen.channels = forced.channels.value_or(channels());
    return chosen;
  }
  return {forced.algorithm.value_or(collective::algorithms(operation).front()),
          forced.protocol.value_or(Protocol::simple), forced.channels.value_or(channels())};
}

bool Communicator::is_measured(Operation operation, Bytes size,
                               const collective::Forced& forced) const {
  return inside_domain_ && !forced.is_any() &&
         profile_->has_collective({kind_of(operation), layout_.ranks(), size.value()});
}

std::string Communicator::described(Operation operation, Bytes size,
                                    const collective::Forced& forced) const {
  if (is_measured(operation, size, forced)) {
    return fmt::format("measured curve of {} ranks", layout_.ranks());
  }
  const collective::Choice chosen = choice(operation, size, forced);
  return fmt::format("{} {}", collective::name(chosen.algorithm),
                     collective::name(chosen.protocol));
}

std::pair<const Path*, TransferCost> Communicator::computed_cost(
    Operation operation, Bytes size, const collective::Forced& forced) const {
  if (is_measured(operation, size, forced)) {
    // Links are loaded as by a ring.
    const Path& p =
        path(operation, {collective::algorithms(operation).front(), Protocol::simple, channels()});
    return {&p, curve_cost(operation, size, p)};
  }
  const collective::Choice chosen = choice(operation, size, forced);
  const Path& p = path(operation, chosen);
  TransferCost cost = transfer_cost(p, size);
  if (chosen.algorithm == Algorithm::nvls_tree) stretch_to_curve(size, p, cost);
  return {&p, cost};
}

// A measured curve: what the smallest message takes is latency, the rest loads the links.
TransferCost Communicator::curve_cost(Operation operation, Bytes size, const Path& path) const {
  const profile::CollectiveQuestion question{kind_of(operation), layout_.ranks(), size.value()};
  const profile::Answer answer = profile_->collective(question);
  const profile::Answer smallest = profile_->collective({question.kind, question.ranks, 1024});
  TransferCost cost;
  const Seconds lag = std::min(answer.duration, smallest.duration);
  cost.lag = to_picoseconds(lag);
  cost.work = to_picoseconds(answer.duration) - cost.lag;
  cost.is_extrapolated = answer.extrapolated;
  if (cost.work > 0) {
    cost.amount = within_links(*cluster_, path, size, answer.duration - lag);
    cost.weight = byte_fair_weight(cost.amount);
  }
  return cost;
}

// Trees between hosts are fed by reduction inside them, chunk by chunk: together they take as long
// as the slower, and inside a host a measured curve says how long that is.
void Communicator::stretch_to_curve(Bytes size, const Path& path, TransferCost& cost) const {
  cost.lag +=
      to_picoseconds(path.fill * (size.value() / (size.value() + profile::nvls_tree_chunks)));
  int members = 0;
  for (const int host : layout_.host_of) members += host == layout_.host_of.front();
  profile::CollectiveQuestion question{profile::CollectiveKind::all_reduce, members, size.value()};
  if (!profile_->has_collective(question)) return;
  const profile::Answer inside = profile_->collective(question);
  question.bytes = 1024;
  const Picoseconds work = to_picoseconds(
      inside.duration - std::min(inside.duration, profile_->collective(question).duration));
  if (work <= cost.work) return;
  cost.work = work;
  cost.is_extrapolated = inside.extrapolated;
  cost.amount = to_bytes_per_second(
      BytesPerSecond(path.reference * size.value() / (static_cast<double>(work) * 1e-12)));
  cost.weight = byte_fair_weight(cost.amount);
}

const Path& Communicator::skewed_path(const Skew& skew, const Path& even) const {
  for (const SkewedPath& known : skewed_) {
    const bool is_same = known.skew.is_to_experts == skew.is_to_experts;
    if (is_same && *known.skew.loads == *skew.loads) return *known.path;
  }
  const std::vector<double>& loads = *skew.loads;
  const auto ranks = static_cast<double>(members_.size());
  std::vector<DeviceHop> hops;
  for (std::size_t source = 0; source < members_.size(); ++source) {
    for (std::size_t target = 0; target < members_.size(); ++target) {
      const double load = loads[skew.is_to_experts ? target : source];
      hops.push_back({members_[source], members_[target], load / ranks});
    }
  }
  auto path = std::make_unique<Path>();
  add_hops(*cluster_, profile_->network(), hops, 1, memory_passes_copy, *path);
  path->latency = even.latency;
  path->channels = even.channels;
  return *skewed_.emplace_back(SkewedPath{skew, std::move(path)}).path;
}

// As much longer than the even exchange as its busiest link is busier.
std::pair<const Path*, TransferCost> Communicator::skewed(Bytes size, const Skew& skew) const {
  const auto [even, even_cost] = cost(Operation::all_to_all, size);
  const Path& path = skewed_path(skew, *even);
  TransferCost cost = even_cost;
  if (cost.work == 0) return {&path, cost};
  const double ratio = path.seconds_per_byte / even->seconds_per_byte;
  cost.work = to_picoseconds(to_seconds(even_cost.work) * ratio);
  cost.amount = within_links(*cluster_, path, size, to_seconds(cost.work));
  cost.weight = byte_fair_weight(cost.amount);
  return {&path, cost};
}

std::vector<double> Communicator::signature() const {
  std::vector<double> result = {static_cast<double>(layout_.ranks()),
                                static_cast<double>(inside_domain_)};
  for (const Operation operation : {Operation::all_reduce, Operation::all_gather,
                                    Operation::reduce_scatter, Operation::send_receive}) {
    for (const double size : {1e3, 1e6, 1e9}) {
      const auto [p, c] = group_cost(operation, Bytes(size));
      result.push_back(static_cast<double>(c.lag));
      result.push_back(static_cast<double>(c.work));
      result.push_back(static_cast<double>(c.amount));
    }
  }
  return result;
}

}  // namespace sim::training
