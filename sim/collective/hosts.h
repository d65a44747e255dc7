// The members of a rank group by host.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/collective/collective.h"

namespace sim::collective {

struct Hosts {
  std::vector<std::vector<int>> members;  // group ranks by host; hosts in order of first appearance

  explicit Hosts(const Layout& layout);
  int count() const { return static_cast<int>(members.size()); }
  int size(int host) const {
    return static_cast<int>(members[static_cast<std::size_t>(host)].size());
  }
  int size_min() const;
  int size_max() const;
  // The member of `host` with this number; numbers wrap around.
  int member(int host, int number) const {
    const int n = size(host);
    return members[static_cast<std::size_t>(host)][static_cast<std::size_t>((number % n + n) % n)];
  }
};

}  // namespace sim::collective
