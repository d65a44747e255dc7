// NCCL's choice of algorithm and protocol, by its own constants.
#include "sim/collective/tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/invariant.h"
#include "sim/collective/hosts.h"
#include "sim/collective/tuner_constants.h"

namespace sim::collective {
namespace {

using Generation = Hardware::Generation;

std::size_t column(Protocol protocol) {
  return protocol == Protocol::ll ? 0 : (protocol == Protocol::ll128 ? 1 : 2);
}

// NCCL counts what it does not name as the newest that is not newer; others are taken as Ampere.
std::size_t row(Generation generation) {
  switch (generation) {
    case Generation::volta:
      return 0;
    case Generation::ampere:
    case Generation::other:
      return 1;
    case Generation::hopper:
      return 2;
    case Generation::blackwell:
      return 3;
  }
  bug("unknown generation");
}

int floor_log2(double value) {
  int exponent = 0;
  while (value >= 2) {
    value /= 2;
    ++exponent;
  }
  return exponent;
}

struct Group {
  int ranks, hosts;
  bool has_one_each() const { return ranks == hosts; }
  std::size_t column() const { return static_cast<std::size_t>(std::min(hosts, 3) - 1); }
  int members() const { return ranks / hosts; }
};

// GB/s that a graph of channels carries. A ring over several hosts passes every port and NIC. On
// two hosts a tree's NICs carry half as much as a ring's, so its ports may decide; NCCL then
// searches for the intra rate alone (Assumed: never beyond twice the NICs').
double channels_rate(Algorithm algorithm, const Group& group, const Hardware& hardware) {
  const double share = hardware.has_nvlink ? tuner::nvlink_share[row(hardware.generation)] : 1;
  const double intra = hardware.intra.value() * 1e-9 * share;
  const double inter = hardware.inter.value() * 1e-9;
  if (group.hosts == 1) return intra;
  if (group.hosts == 2 && algorithm == Algorithm::tree) return std::min(intra, 2 * inter);
  return group.has_one_each() ? inter : std::min(intra, inter);
}

// GB/s, as bus bandwidth for a ring and twice the algorithm bandwidth for a tree.
double corrected_rate(Algorithm algorithm, Protocol protocol, const Group& group,
                      const Hardware& hardware) {
  const std::size_t generation = row(hardware.generation), hosts = group.column();
  const double channels = tuner_channels(hardware, group.hosts);
  const double ll_max =
      tuner::ll_rate_max[group.hosts == 1 ? generation : (hardware.amd_cpu ? 1 : 0)][hosts];
  double rate = channels_rate(algorithm, group, hardware);
  if (algorithm == Algorithm::ring) {
    if (protocol == Protocol::ll) return std::min(ll_max, rate * 0.5);
    if (protocol == Protocol::simple) return rate;
    return std::min(rate * 0.92, channels * tuner::ring_ll128_rate_max[generation][hosts]);
  }
  rate = std::min(rate * 0.92, channels * tuner::tree_rate_max[generation][hosts]);
  if (protocol == Protocol::ll) return std::min(rate / 3.8, ll_max);
  if (protocol == Protocol::simple) return rate;
  return std::min(rate * (group.hosts == 1 ? 7.0 / 9 : 120.0 / 128),
                  channels * tuner::tree_ll128_rate_max[generation][hosts]);
}

int ring_steps(Operation operation, int ranks) {
  if (operation == Operation::broadcast) return ranks;
  return operation == Operation::all_reduce ? 2 * (ranks - 1) : ranks - 1;
}

double latency_in_us(Operation operation, Algorithm algorithm, Protocol protocol,
                     const Group& group, const Hardware& hardware) {
  const bool is_tree = algorithm == Algorithm::tree;
  const auto of = [&](const tuner::ByAlgorithm& table, bool tree) {
    return (tree ? table.tree : table.ring)[column(protocol)];
  };
  const tuner::ByAlgorithm& inside =
      hardware.has_nvlink ? tuner::nvlink_latency : tuner::pci_latency;
  const double base = of(tuner::base_latency, is_tree);
  double intra = of(inside, is_tree);
  const double inter = of(tuner::network_latency, is_tree || group.has_one_each());
  if (is_tree) {
    return base + 2 * ((group.members() - 1) * intra + floor_log2(group.hosts) * inter);
  }
  if (operation == Operation::broadcast) {  // a chain in one pass: its channels are alike
    return base + of(group.hosts == 1 ? inside : tuner::network_latency, false);
  }
  if (group.hosts > 1) {
    const double overhead =
        hardware.amd_cpu ? tuner::network_overhead_amd : tuner::network_overhead;
    const double times = protocol == Protocol::simple ? tuner::network_overhead_simple : 1;
    intra = std::max(intra, overhead * times);
  }
  const int inter_steps = (operation == Operation::all_reduce ? 2 : 1) * (group.hosts - 1);
  return base + (ring_steps(operation, group.ranks) - inter_steps) * intra + inter_steps * inter;
}

// GB/s of the whole operation where switches take part, by NCCL's law. A ring's count of steps
// turns bus into algorithm bandwidth there too; collnet's is half.
double nvls_rate(Operation operation, Algorithm algorithm, const Group& group,
                 const Hardware& hardware) {
  const std::size_t generation = row(hardware.generation);
  const double channels = tuner_channels(hardware, group.hosts);
  double rate = hardware.intra.value() * 1e-9 * tuner::nvlink_share[generation] *
                tuner::nvls_efficiency[generation] * (channels - 1) / channels;
  rate *= operation == Operation::all_reduce ? 2 : (group.members() - 1.0) / group.members();
  if (algorithm == Algorithm::nvls_tree) {
    const double inter = hardware.inter.value() * 1e-9 * (group.hosts == 2 ? 2 : 1);
    rate =
        std::min({rate, inter, channels * tuner::nvls_tree_rate_max[generation][group.column()]});
  }
  return rate * group.ranks / ring_steps(operation, group.ranks);
}

double collnet_rate(const Group& group, const Hardware& hardware) {
  const double share = hardware.has_nvlink ? tuner::nvlink_share[row(hardware.generation)] : 1;
  const double ratio = group.members() / static_cast<double>(tuner_channels(hardware, group.hosts));
  double rate = hardware.intra.value() * 1e-9 * share / (ratio - (ratio - 1) / 2);
  if (row(hardware.generation) >= row(Generation::hopper)) rate *= tuner::collnet_efficiency;
  return rate / 2;
}

// Latency in us and rate in GB/s of what runs with Simple only.
TunerEstimate simple_estimate(Operation operation, Algorithm algorithm, const Group& group,
                              const Hardware& hardware, Bytes size) {
  double latency = tuner::nvls_latency, rate = 0;
  if (algorithm == Algorithm::pat) {
    latency = tuner::pat_base_latency + tuner::pat_rank_latency * group.ranks +
              floor_log2(group.hosts) * tuner::network_latency.tree[column(Protocol::simple)] *
                  tuner::pat_step_share;
    rate = channels_rate(Algorithm::ring, group, hardware) * tuner::pat_efficiency;
  } else if (algorithm == Algorithm::collnet) {
    latency = 2 * (std::min(1, group.members() - 1) * tuner::collnet_latency +
                   (group.members() - 1) * tuner::collnet_member_latency) +
              tuner::collnet_network_latency;
    rate = collnet_rate(group, hardware);
  } else {
    rate = nvls_rate(operation, algorithm, group, hardware);
    if (algorithm == Algorithm::nvls_tree) {
      latency += 2 * floor_log2(group.hosts) * tuner::nvls_tree_latency;
      // NCCL: from Blackwell on, on x86.
      if (hardware.generation == Generation::blackwell && size.value() >= 64) {
        const auto log_size = static_cast<std::size_t>(floor_log2(size.value() / 64));
        if (log_size < 23) rate *= tuner::tree_correction[column(Protocol::simple)][log_size];
      }
    }
  }
  TunerEstimate result{microseconds(latency), BytesPerSecond(rate * 1e9), {}};
  result.time = result.latency + size / result.bandwidth;
  return result;
}

Group group_of(const Layout& layout) {
  return {layout.ranks(), listed_hosts(layout) + layout.hosts_left_out};
}

std::optional<TunerEstimate> estimate(Operation operation, Algorithm algorithm, Protocol protocol,
                                      const Group& group, const Hardware& hardware, Bytes size) {
  const bool is_tree = algorithm == Algorithm::tree;
  if (is_tree ? operation != Operation::all_reduce : algorithm != Algorithm::ring) return {};
  if (operation == Operation::all_to_all || operation == Operation::send_receive) return {};
  if (protocol == Protocol::ll128 && !hardware.has_nvlink) return {};
  double rate = corrected_rate(algorithm, protocol, group, hardware);
  if (rate <= 0) return {};
  rate *= is_tree ? 0.5 : static_cast<double>(group.ranks) / ring_steps(operation, group.ranks);
  double latency = latency_in_us(operation, algorithm, protocol, group, hardware);
  if (is_tree && size.value() >= 64) {
    const auto log_size = static_cast<std::size_t>(floor_log2(size.value() / 64));
    if (log_size < 23) rate *= tuner::tree_correction[column(protocol)][log_size];
  }
  const double channels = tuner_channels(hardware, group.hosts);
  if (!is_tree && protocol == Protocol::simple && group.hosts > 1 &&
      operation == Operation::all_reduce &&
      size.value() / (channels * group.ranks) >= tuner::ring_plateau_bytes) {
    latency *=
        hardware.generation == Generation::volta ? tuner::ring_plateau_volta : tuner::ring_plateau;
  }
  TunerEstimate result{microseconds(latency), BytesPerSecond(rate * 1e9), {}};
  result.time = result.latency + size / result.bandwidth;
  return result;
}

// All-to-all and send-receive are made of point-to-point messages. Source of pxn as the default
// with NVLink: NCCL src/graph/paths.cc, NCCL_P2P_PXN_LEVEL = 2.
Choice point_to_point(Operation operation, const Layout& layout, const Hardware& hardware,
                      Bytes size) {
  const Group group = group_of(layout);
  const bool is_all_to_all = operation == Operation::all_to_all;
  const double message = size.value() / (is_all_to_all ? group.ranks : 1);
  Choice choice{is_all_to_all ? Algorithm::pairwise : Algorithm::direct,
                message <= tuner::point_to_point_ll_bytes ? Protocol::ll : Protocol::simple,
                tuner_channels(hardware, group.hosts)};
  if (is_all_to_all && hardware.has_nvlink && !hardware.inside_domain &&
      !obstacle(operation, Algorithm::pxn, layout, hardware)) {
    choice.algorithm = Algorithm::pxn;
  }
  return choice;
}

// In NCCL's order, which decides ties.
constexpr Algorithm tuned[] = {Algorithm::tree, Algorithm::ring,      Algorithm::collnet,
                               Algorithm::nvls, Algorithm::nvls_tree, Algorithm::pat};

bool is_ring_or_tree(Algorithm algorithm) {
  return algorithm == Algorithm::ring || algorithm == Algorithm::tree;
}

struct GroupLayout {
  const Layout& layout;
  Group group;
};

std::optional<TunerEstimate> any_estimate(Operation operation, Algorithm algorithm,
                                          Protocol protocol, const GroupLayout& of,
                                          const Hardware& hardware, Bytes size) {
  const auto known = algorithms(operation);
  if (of.group.ranks < 2 || std::find(known.begin(), known.end(), algorithm) == known.end()) {
    return std::nullopt;
  }
  if (is_ring_or_tree(algorithm)) {
    return estimate(operation, algorithm, protocol, of.group, hardware, size);
  }
  const bool is_tuned = std::find(std::begin(tuned), std::end(tuned), algorithm) != std::end(tuned);
  if (!is_tuned || obstacle(algorithm, protocol, hardware) ||
      obstacle(operation, algorithm, of.layout, hardware)) {
    return std::nullopt;
  }
  return simple_estimate(operation, algorithm, of.group, hardware, size);
}

}  // namespace

int tuner_channels(const Hardware& hardware, int hosts) {
  if (!hardware.has_nvlink) return 4;
  if (hardware.generation == Generation::volta) return 12;
  if (hardware.generation == Generation::blackwell) return 32;
  return hosts == 1 ? 24 : 16;
}

std::optional<TunerEstimate> tuner_estimate(Operation operation, Algorithm algorithm,
                                            Protocol protocol, const Layout& layout,
                                            const Hardware& hardware, Bytes size) {
  return any_estimate(operation, algorithm, protocol, {layout, group_of(layout)}, hardware, size);
}

Choice choose(Operation operation, const Layout& layout, const Hardware& hardware, Bytes size,
              const Forced& forced) {
  const GroupLayout group{layout, group_of(layout)};
  Choice best;
  best.channels = tuner_channels(hardware, group.group.hosts);
  if (operation == Operation::all_to_all || operation == Operation::send_receive) {
    best = point_to_point(operation, layout, hardware, size);
  }
  double shortest = std::numeric_limits<double>::infinity();
  for (const Algorithm algorithm : tuned) {
    if (forced.algorithm.value_or(algorithm) != algorithm) continue;
    // Nothing public says how pat does at scale, so it is forced or not taken.
    if (algorithm == Algorithm::pat && !forced.algorithm) continue;
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      if (forced.protocol.value_or(protocol) != protocol) continue;
      const auto estimated = any_estimate(operation, algorithm, protocol, group, hardware, size);
      if (!estimated || estimated->time.value() >= shortest) continue;
      shortest = estimated->time.value();
      best.algorithm = algorithm;
      best.protocol = protocol;
    }
  }
  // What NCCL's tuner does not weigh runs as forced.
  best.algorithm = forced.algorithm.value_or(best.algorithm);
  best.protocol = forced.protocol.value_or(best.protocol);
  best.channels = forced.channels.value_or(best.channels);
  return best;
}

}  // namespace sim::collective
