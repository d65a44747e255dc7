// Layouts and sums that the tests of collectives share.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/collective/collective.h"

namespace sim::collective {

inline Layout even_layout(int hosts, int members) {
  Layout layout;
  for (int host = 0; host < hosts; ++host) {
    layout.host_of.insert(layout.host_of.end(), static_cast<std::size_t>(members), host);
  }
  return layout;
}

// Every number of hosts and members with at most `ranks_max` ranks.
inline std::vector<Layout> even_layouts(int ranks_max) {
  std::vector<Layout> result;
  for (int hosts = 1; hosts <= ranks_max; ++hosts) {
    for (int members = 1; hosts * members <= ranks_max; ++members) {
      result.push_back(even_layout(hosts, members));
    }
  }
  return result;
}

// Every way to cut 1 .. ranks_max ranks into hosts: bit i of `cuts` starts a host at rank i + 1.
// Among them every even one; and each again with its ranks dealt to the hosts in turn.
inline std::vector<Layout> all_layouts(int ranks_max) {
  std::vector<Layout> result;
  for (int ranks = 1; ranks <= ranks_max; ++ranks) {
    for (unsigned cuts = 0; cuts < 1U << (ranks - 1); ++cuts) {
      Layout layout;
      int host = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        if (rank > 0 && (cuts >> (rank - 1) & 1U)) ++host;
        layout.host_of.push_back(host);
      }
      Layout dealt = layout;
      for (int rank = 0; rank < ranks; ++rank) {
        dealt.host_of[static_cast<std::size_t>(rank * 5 % ranks)] =
            layout.host_of[static_cast<std::size_t>(rank)];
      }
      result.push_back(layout);
      if (ranks % 5 != 0) result.push_back(dealt);
    }
  }
  return result;
}

inline bool is_even(const Layout& layout) {
  std::map<int, int> members;
  for (const int host : layout.host_of) ++members[host];
  for (const auto& [host, count] : members) {
    if (count != members.begin()->second) return false;
  }
  return true;
}

// On hosts and a fabric that can do everything, each host a scale-up domain.
inline bool can_run(Operation operation, Algorithm algorithm, const Layout& layout) {
  Hardware hardware;
  hardware.has_nvls = hardware.has_sharp = true;
  hardware.inside_domain = true;
  for (const int host : layout.host_of) {
    hardware.inside_domain = hardware.inside_domain && host == layout.host_of.front();
  }
  return !obstacle(operation, algorithm, layout, hardware);
}

inline std::map<std::pair<int, int>, double> by_pair(const Traffic& traffic) {
  std::map<std::pair<int, int>, double> result;
  for (const Hop& hop : traffic.hops) result[{hop.source, hop.target}] += hop.bytes.value();
  return result;
}

inline double bytes_sent(const Traffic& traffic, int rank) {
  double sum = 0;
  for (const Hop& hop : traffic.hops) sum += hop.source == rank ? hop.bytes.value() : 0;
  return sum;
}

inline double bytes_received(const Traffic& traffic, int rank) {
  double sum = 0;
  for (const Hop& hop : traffic.hops) sum += hop.target == rank ? hop.bytes.value() : 0;
  return sum;
}

// From members of `host` to others: what its NICs send.
inline double bytes_leaving(const Traffic& traffic, const Layout& layout, int host) {
  double sum = 0;
  for (const Hop& hop : traffic.hops) {
    if (layout.host_of[static_cast<std::size_t>(hop.source)] != host) continue;
    if (layout.host_of[static_cast<std::size_t>(hop.target)] == host) continue;
    sum += hop.bytes.value();
  }
  return sum;
}

}  // namespace sim::collective
