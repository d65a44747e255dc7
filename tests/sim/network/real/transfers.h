// Flows as TCP connections between the hosts of an emulated network.
#pragma once

#include <vector>

#include "tests/sim/network/real/emulated_network.h"

namespace sim::network::real {

struct Transfers {
  std::vector<double> start, end;  // [flow][s] since the first could start; end: all is received
  double cpu_share = 0;            // of a core, that this process used meanwhile
};

// Opens all connections, then runs the flows, each once those before it have been received. One
// thread drives all hosts, so there is one clock. Throws CannotEmulate, also where nothing arrives
// for ten seconds.
Transfers transfer(const Pattern& pattern, const EmulatedNetwork& network);

}  // namespace sim::network::real
