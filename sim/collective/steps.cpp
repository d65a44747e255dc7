// Chunk-level schedules of rings and trees.
#include "sim/collective/steps.h"

#include <algorithm>

#include "sim/base/invariant.h"
#include "sim/collective/hosts.h"
#include "sim/collective/lane_steps.h"
#include "sim/collective/pat.h"
#include "sim/collective/rings.h"
#include "sim/collective/trees.h"

namespace sim::collective {
namespace {

// One step of every ring. A reducing ring starts a chunk behind its owner and ends there; a
// gathering one starts at the owner. chunk = ring x n + owner's position.
Step ring_step(const std::vector<std::vector<int>>& rings, int step, bool reduces) {
  Step moves;
  for (std::size_t r = 0; r < rings.size(); ++r) {
    const std::vector<int>& ring = rings[r];
    const int n = static_cast<int>(ring.size());
    for (int position = 0; position < n; ++position) {
      const int owner = ((position - step - (reduces ? 1 : 0)) % n + n) % n;
      moves.push_back({ring[static_cast<std::size_t>(position)],
                       ring[static_cast<std::size_t>((position + 1) % n)],
                       static_cast<int>(r) * n + owner, reduces});
    }
  }
  return moves;
}

Steps ring(Operation operation, const Hosts& hosts) {
  const std::vector<std::vector<int>> all = rings(hosts);
  const int n = static_cast<int>(all.front().size());
  Steps result;
  for (const std::vector<int>& ring : all) {
    for (const int owner : ring) {
      result.chunks.push_back({1.0 / (static_cast<double>(all.size()) * n), owner});
    }
  }
  for (const bool reduces : {true, false}) {
    if (operation == (reduces ? Operation::all_gather : Operation::reduce_scatter)) continue;
    for (int step = 0; step + 1 < n; ++step) {
      result.steps.push_back(ring_step(all, step, reduces));
    }
  }
  return result;
}

// Along every ring from the root on; one chunk a ring.
Steps ring_broadcast(const Hosts& hosts) {
  const std::vector<std::vector<int>> all = rings(hosts);
  const int n = static_cast<int>(all.front().size());
  Steps result;
  result.steps.resize(static_cast<std::size_t>(n - 1));
  for (std::size_t r = 0; r < all.size(); ++r) {
    result.chunks.push_back({1.0 / static_cast<double>(all.size()), 0});
    const auto root = std::find(all[r].begin(), all[r].end(), 0) - all[r].begin();
    for (int step = 0; step + 1 < n; ++step) {
      const auto at = static_cast<std::size_t>(root + step);
      result.steps[static_cast<std::size_t>(step)].push_back({all[r][at % all[r].size()],
                                                              all[r][(at + 1) % all[r].size()],
                                                              static_cast<int>(r), false});
    }
  }
  return result;
}

// By how many hops a member is above its lowest descendant.
std::vector<int> heights(const std::vector<std::optional<int>>& parents) {
  std::vector<int> result(parents.size(), 0);
  for (std::size_t rank = 0; rank < parents.size(); ++rank) {
    int hops = 0;
    for (auto above = parents[rank]; above; above = parents[static_cast<std::size_t>(*above)]) {
      int& height = result[static_cast<std::size_t>(*above)];
      height = std::max(height, ++hops);
    }
  }
  return result;
}

// Up: a member sends when everything below it has arrived. Down: the same moves back, last first.
Steps tree(const Hosts& hosts) {
  const int heads = hosts.size_max();
  const auto half = static_cast<std::size_t>(heads - 1 + tree_depth(hosts.count()));
  Steps result;
  result.steps.resize(2 * half);
  for (int head = 0; head < heads; ++head) {
    for (const bool is_second : {false, true}) {
      const auto parents = tree_parents(hosts, is_second, head);
      const std::vector<int> height = heights(parents);
      const int chunk = static_cast<int>(result.chunks.size());
      for (std::size_t rank = 0; rank < parents.size(); ++rank) {
        const int member = static_cast<int>(rank);
        if (!parents[rank]) {
          result.chunks.push_back({0.5 / heads, member});
          continue;
        }
        const auto step = static_cast<std::size_t>(height[rank]);
        result.steps[step].push_back({member, *parents[rank], chunk, true});
        result.steps[2 * half - 1 - step].push_back({*parents[rank], member, chunk, false});
      }
    }
  }
  return result;
}

}  // namespace

Steps steps(Operation operation, Algorithm algorithm, const Layout& layout) {
  const Hosts hosts(layout);
  invariant(hosts.count() >= 1, "a collective has no members");
  if (layout.ranks() == 1) return {{{1, 0}}, {}};
  const bool is_exchange = operation == Operation::all_reduce ||
                           operation == Operation::all_gather ||
                           operation == Operation::reduce_scatter;
  if (algorithm == Algorithm::ring && operation == Operation::broadcast) {
    return ring_broadcast(hosts);
  }
  if (algorithm == Algorithm::ring && is_exchange) return ring(operation, hosts);
  if (algorithm == Algorithm::tree && operation == Operation::all_reduce) return tree(hosts);
  if (algorithm == Algorithm::hierarchical && is_exchange) return lane_steps(operation, hosts);
  if (algorithm == Algorithm::pat && is_exchange) return pat_steps(operation, layout.ranks());
  bug("no steps for this algorithm and operation");
}

}  // namespace sim::collective
