// NCCL's double binary tree over hosts, with a chain of members inside each host.
#include "sim/collective/trees.h"

#include <algorithm>

namespace sim::collective {

std::optional<int> binary_tree_parent(int node, int nodes) {
  if (node == 0) return std::nullopt;
  const int lowest_bit = node & -node;
  const int below = node - lowest_bit;
  const int parent = below | (lowest_bit << 1);
  return parent < nodes ? parent : below;
}

std::optional<int> second_tree_parent(int node, int nodes) {
  if (nodes % 2 == 0) {
    const auto parent = binary_tree_parent(nodes - 1 - node, nodes);
    return parent ? std::optional(nodes - 1 - *parent) : std::nullopt;
  }
  const auto parent = binary_tree_parent((node + nodes - 1) % nodes, nodes);
  return parent ? std::optional((*parent + 1) % nodes) : std::nullopt;
}

std::vector<std::optional<int>> tree_parents(const Hosts& hosts, bool is_second, int head) {
  std::size_t ranks = 0;
  for (const auto& members : hosts.members) ranks += members.size();
  std::vector<std::optional<int>> parents(ranks);
  for (int host = 0; host < hosts.count(); ++host) {
    for (int i = 1; i < hosts.size(host); ++i) {
      parents[static_cast<std::size_t>(hosts.member(host, head + i))] =
          hosts.member(host, head + i - 1);
    }
    const auto parent = is_second ? second_tree_parent(host, hosts.count())
                                  : binary_tree_parent(host, hosts.count());
    if (parent) {
      parents[static_cast<std::size_t>(hosts.member(host, head))] = hosts.member(*parent, head);
    }
  }
  return parents;
}

int tree_depth(int hosts) {
  int deepest = 0;
  for (const auto parent_of : {binary_tree_parent, second_tree_parent}) {
    for (int host = 0; host < hosts; ++host) {
      int depth = 0;
      for (auto above = parent_of(host, hosts); above; above = parent_of(*above, hosts)) ++depth;
      deepest = std::max(deepest, depth);
    }
  }
  return deepest;
}

}  // namespace sim::collective
