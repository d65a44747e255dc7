// Networks of hosts and switches with transfers over them, small enough to be run for real.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sim::network::real {

// A cable; one direction has index 2 i, from `a` to `b`, the other 2 i + 1.
struct Cable {
  int a = 0, b = 0;     // hosts first, then switches
  double megabits = 0;  // [Mbit/s] each way
};

struct Flow {
  int from = 0, to = 0;  // hosts
  std::int64_t bytes = 0;
  std::vector<int> after = {};  // flows whose receivers must have everything
  double delay = 0;             // [s] from then
};

struct Pattern {
  std::string name;
  int hosts = 0, switches = 0;
  std::vector<Cable> cables;
  std::vector<Flow> flows;
};

// [flow] directions of cables from its sender to its receiver, the fewest of them.
// REQUIRES: they are connected.
std::vector<std::vector<int>> paths(const Pattern& pattern);

// Incast, outcast, permutation, parking lot, all-to-all, ring all-reduce, pipelines; about `bytes`
// a host at `megabits` [Mbit/s].
std::vector<Pattern> patterns(double megabits, std::int64_t bytes);

}  // namespace sim::network::real
