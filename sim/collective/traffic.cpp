// Bytes between members and steps in sequence, for each algorithm.
#include "sim/base/invariant.h"
#include "sim/collective/hosts.h"
#include "sim/collective/lanes.h"
#include "sim/collective/pat.h"
#include "sim/collective/rings.h"
#include "sim/collective/switched.h"
#include "sim/collective/tally.h"
#include "sim/collective/trees.h"

namespace sim::collective {
namespace {

// Steps of a ring, counted as NCCL's tuner does: a pass of n - 1 steps crosses each border once.
Traffic ring(Operation operation, const Hosts& hosts, const Layout& layout, Bytes size) {
  const int ranks = layout.ranks(), host_count = hosts.count() + layout.hosts_left_out;
  invariant(layout.host_numbers.empty() || operation != Operation::broadcast,
            "a broadcast has to start somewhere");
  const std::vector<std::vector<int>> all = rings(hosts);
  const std::int64_t passes = operation == Operation::all_reduce ? 2 : 1;
  const std::int64_t count = static_cast<std::int64_t>(all.size());
  Traffic traffic;
  if (operation == Operation::broadcast) {
    Tally tally(count);
    for (const std::vector<int>& ring : all) {
      for (std::size_t i = 0; i < ring.size(); ++i) {
        const int target = ring[(i + 1) % ring.size()];
        if (target != 0) tally.add(ring[i], target, 1);  // rank 0 is the root
      }
    }
    traffic.hops = tally.hops(size);
  } else {
    Tally tally(count * ranks);
    for (const std::vector<int>& ring : all) {
      for (std::size_t i = 0; i < ring.size(); ++i) {
        const int source = ring[i], target = ring[(i + 1) % ring.size()];
        if (hosts.are_joined(source, target)) tally.add(source, target, passes * (ranks - 1));
      }
    }
    traffic.hops = tally.hops(size);
  }
  traffic.inter_steps = static_cast<int>(passes) * (host_count - 1);
  traffic.intra_steps = static_cast<int>(passes) * (ranks - host_count);
  return traffic;
}

// Two trees, each with half of the bytes, for every choice of the chains' heads.
Traffic tree(const Hosts& hosts, Bytes size) {
  const int heads = hosts.size_max();
  Tally tally(std::int64_t{2} * heads);
  for (int head = 0; head < heads; ++head) {
    for (const bool is_second : {false, true}) {
      const auto parents = tree_parents(hosts, is_second, head);
      for (std::size_t rank = 0; rank < parents.size(); ++rank) {
        if (!parents[rank]) continue;
        tally.add(static_cast<int>(rank), *parents[rank], 1);
        tally.add(*parents[rank], static_cast<int>(rank), 1);
      }
    }
  }
  return {tally.hops(size), 2 * (heads - 1), 2 * tree_depth(hosts.count())};
}

// Every member to every other at once; all-reduce as a reduce-scatter and an all-gather. The root
// of a broadcast to all; send-receive to the next group rank, which the last one has not.
Traffic direct(Operation operation, const Hosts& hosts, int ranks, Bytes size) {
  const int phases = operation == Operation::all_reduce ? 2 : 1;
  const bool is_whole = operation == Operation::broadcast || operation == Operation::send_receive;
  Tally tally(is_whole ? 1 : ranks);
  for (int source = 0; source < ranks; ++source) {
    for (int target = 0; target < ranks; ++target) {
      if (operation == Operation::broadcast && source != 0) continue;
      if (operation == Operation::send_receive && target != source + 1) continue;
      tally.add(source, target, phases);
    }
  }
  const bool leaves_host = hosts.count() > 1;
  return {tally.hops(size), leaves_host ? 0 : phases, leaves_host ? phases : 0};
}

// n - 1 rounds, in round r with the members r before and after. Steps as the member with the
// fewest neighbours in its host sees them.
Traffic pairwise(const Hosts& hosts, int ranks, Bytes size) {
  Traffic traffic = direct(Operation::all_to_all, hosts, ranks, size);
  traffic.intra_steps = hosts.size_min() - 1;
  traffic.inter_steps = ranks - hosts.size_min();
  return traffic;
}

// Inside a host everything for a rail goes to the member there, which passes it on as one message a
// host: g members send g parts each to every other host.
Traffic pxn(const Hosts& hosts, int ranks, Bytes size) {
  Tally tally(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const int host = hosts.host_of[static_cast<std::size_t>(rank)];
    for (int number = 0; number < hosts.size(host); ++number) {
      tally.add(rank, hosts.member(host, number), hosts.count());
    }
  }
  for (int host = 0; host < hosts.count(); ++host) {
    for (int other = 0; other < hosts.count(); ++other) {
      for (int number = 0; number < hosts.size(host); ++number) {
        tally.add(hosts.member(host, number), hosts.member(other, number),
                  other == host ? 0 : hosts.size(host));
      }
    }
  }
  return {tally.hops(size), hosts.size_max() - 1, hosts.count() - 1};
}

}  // namespace

Traffic traffic(Operation operation, Algorithm algorithm, const Layout& layout, Bytes size) {
  const int ranks = layout.ranks();
  invariant(ranks >= 1, "a collective has no members");
  if (ranks == 1) return {};
  const Hosts hosts(layout);
  const bool is_along_rings = algorithm == Algorithm::ring || algorithm == Algorithm::hierarchical;
  invariant(layout.ranks_left_out == 0 || (is_along_rings && hosts.count() > 1),
            "members can be left out of rings over hosts only");
  if (algorithm == Algorithm::direct) return direct(operation, hosts, ranks, size);
  if (algorithm == Algorithm::nvls) return nvls(operation, ranks, size);
  if (algorithm == Algorithm::nvls_tree) return nvls_tree(hosts, size);
  if (algorithm == Algorithm::collnet) return collnet(hosts, size);
  if (algorithm == Algorithm::pat) return pat(operation, ranks, size);
  if (algorithm == Algorithm::pxn) return pxn(hosts, ranks, size);
  switch (operation) {
    case Operation::all_reduce:
      if (algorithm == Algorithm::tree) return tree(hosts, size);
      [[fallthrough]];
    case Operation::all_gather:
    case Operation::reduce_scatter:
      if (algorithm == Algorithm::hierarchical) {
        return hierarchical_traffic(operation, hosts, layout, size);
      }
      [[fallthrough]];
    case Operation::broadcast:
      if (algorithm == Algorithm::ring) return ring(operation, hosts, layout, size);
      break;
    case Operation::all_to_all:
      if (algorithm == Algorithm::pairwise) return pairwise(hosts, ranks, size);
      break;
    case Operation::send_receive:
      break;
  }
  bug("no such algorithm for this operation");
}

}  // namespace sim::collective
