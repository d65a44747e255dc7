// The rings of a rank group: cyclic orders of its members.
#pragma once

#include <vector>

#include "sim/collective/hosts.h"

namespace sim::collective {

// One ring inside a host or with one member per host; else as many as the largest host has members,
// each carrying the same share. Ring c enters and leaves hosts at other members than the rest, and
// a hop between hosts stays on one member number (a rail), as NCCL's rings do on even and odd
// hosts: 0 1 .. 7 | 7 6 .. 0 | 0 1 ..
// Not possible, so the last hop changes the number: two members on an odd number of hosts, and some
// hosts of uneven size.
std::vector<std::vector<int>> rings(const Hosts& hosts);

}  // namespace sim::collective
