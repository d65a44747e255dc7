// NCCL's double binary tree over hosts, with a chain of members inside each host.
#pragma once

#include <optional>
#include <vector>

#include "sim/collective/hosts.h"

namespace sim::collective {

// The parent of `node` in a tree over 0 .. nodes - 1 rooted at 0: leaves and inner nodes alternate,
// so node k hangs below the even (or fourth, eighth ..) number beside it.
//   0 - 4 - {2 - {1, 3}, 6 - {5, 7}} for 8 nodes
// Source: NCCL src/graph/trees.cc, ncclGetBtree; after Sanders, Speck, Traeff, Parallel Computing
// 35(12), 2009, 581-594.
std::optional<int> binary_tree_parent(int node, int nodes);

// The second tree: the first one mirrored (even number of nodes) or shifted by one (odd), so that
// most nodes are leaves of one tree only. Source: as above, ncclGetDtree.
std::optional<int> second_tree_parent(int node, int nodes);

// parent[group rank]; the root has none. In each host the members form a chain behind member number
// `head`, whose first one is linked to the first ones of the parent's and the children's hosts.
std::vector<std::optional<int>> tree_parents(const Hosts& hosts, bool is_second, int head);

// Hops from the root's host to the furthest one, the greater of both trees.
int tree_depth(int hosts);

}  // namespace sim::collective
