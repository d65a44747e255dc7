// Hierarchical collectives: inside hosts and, per member number, between hosts.
#pragma once

#include <vector>

#include "sim/collective/hosts.h"

namespace sim::collective {

// Lane j joins member number j of every host; there are as many as the smallest host has members,
// and lane j of m takes 1/m of the bytes (all-reduce) or what members j, j + m, ... of each host
// contribute or receive (all-gather, reduce-scatter; members from m on hand theirs to lane j's
// first, or get it from there).
//   all-reduce: chains inside each host end at the lane's member; ring all-reduce along each lane;
//   chains back. All-gather: rings along the lanes, then chains. Reduce-scatter: the reverse.
// With hosts of one size the chains are the ring reduce-scatter and all-gather inside each host.
struct Lanes {
  int count = 0;
  std::vector<std::vector<int>> contributors;  // [host][lane]: members of the host in the lane

  explicit Lanes(const Hosts& hosts);
  // Over all hosts listed.
  int contributors_of(int lane) const;
};

// Hosts that the layout leaves out have as many members as each of the others.
Traffic hierarchical_traffic(Operation operation, const Hosts& hosts, const Layout& layout,
                             Bytes size);

}  // namespace sim::collective
