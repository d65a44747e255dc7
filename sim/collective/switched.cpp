// Collectives in which switches reduce and multicast.
#include "sim/collective/switched.h"

#include "sim/collective/tally.h"
#include "sim/collective/trees.h"

namespace sim::collective {
namespace {

// Through every member's port to the next member of its host.
void add_ports(Tally& tally, const Hosts& hosts, std::int64_t shares) {
  for (int host = 0; host < hosts.count(); ++host) {
    for (int number = 0; number < hosts.size(host); ++number) {
      tally.add(hosts.member(host, number), hosts.member(host, number + 1), shares);
    }
  }
}

}  // namespace

Traffic nvls(Operation operation, int ranks, Bytes size) {
  Tally tally(ranks);
  const bool is_both = operation == Operation::all_reduce;
  for (int rank = 0; rank < ranks; ++rank) {
    tally.add(rank, (rank + 1) % ranks, ranks + (is_both ? 1 : 0));
  }
  return {tally.hops(size), is_both ? 2 : 1, 0};
}

Traffic nvls_tree(const Hosts& hosts, Bytes size) {
  const int members = hosts.size_max();
  Tally tally(std::int64_t{2} * members);
  add_ports(tally, hosts, std::int64_t{2} * members + 2);
  for (int host = 0; host < hosts.count(); ++host) {
    for (const auto parent_of : {binary_tree_parent, second_tree_parent}) {
      const auto parent = parent_of(host, hosts.count());
      if (!parent) continue;
      for (int number = 0; number < members; ++number) {
        tally.add(hosts.member(host, number), hosts.member(*parent, number), 1);
        tally.add(hosts.member(*parent, number), hosts.member(host, number), 1);
      }
    }
  }
  return {tally.hops(size), 2, 2 * tree_depth(hosts.count())};
}

Traffic collnet(const Hosts& hosts, Bytes size) {
  const int members = hosts.size_max();
  Tally tally(members);
  for (int host = 0; host < hosts.count(); ++host) {
    for (int number = 0; number < members; ++number) {
      for (int peer = 1; peer < members; ++peer) {
        tally.add(hosts.member(host, number), hosts.member(host, number + peer), 2);
      }
      tally.add(hosts.member(host, number), hosts.member((host + 1) % hosts.count(), number), 1);
    }
  }
  return {tally.hops(size), members > 1 ? 2 : 0, 1};
}

}  // namespace sim::collective
