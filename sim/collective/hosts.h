// The members of a rank group by host.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/collective/collective.h"

namespace sim::collective {

struct Hosts {
  std::vector<std::vector<int>> members;  // group ranks by host; hosts in order of first appearance
  std::vector<int> host_of;               // [group rank]
  std::vector<int> numbers;               // [host] in the ring
  int in_ring = 0;                        // hosts

  explicit Hosts(const Layout& layout);
  int count() const { return static_cast<int>(members.size()); }
  int size(int host) const {
    return static_cast<int>(members[static_cast<std::size_t>(host)].size());
  }
  // Whether a ring may go from one of these members to the other: inside a host or to the next.
  bool are_joined(int source, int target) const;
  int size_min() const;
  int size_max() const;
  // The member of `host` with this number; numbers wrap around.
  int member(int host, int number) const {
    const int n = size(host);
    return members[static_cast<std::size_t>(host)][static_cast<std::size_t>((number % n + n) % n)];
  }
};

// Hosts(layout).count(), for those who ask for nothing else.
int listed_hosts(const Layout& layout);

}  // namespace sim::collective
