// Parallel aggregated trees: all-gather and reduce-scatter in ceil(log2 n) steps.
#include "sim/collective/pat.h"

#include <algorithm>
#include <bit>

#include "sim/collective/tally.h"

namespace sim::collective {
namespace {

// Powers of two below `ranks`, the largest first.
std::vector<int> offsets(int ranks) {
  std::vector<int> result;
  for (int d = static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks))) / 2; d > 0; d /= 2) {
    result.push_back(d);
  }
  return result;
}

}  // namespace

Traffic pat(Operation operation, int ranks, Bytes size) {
  Tally tally(ranks);
  const bool is_gather = operation == Operation::all_gather;
  for (const int d : offsets(ranks)) {
    // Parts whose offset at the target has d as its lowest bit: d, 3 d, 5 d, ... below n.
    const int parts = (ranks - 1 - d) / (2 * d) + 1;
    for (int rank = 0; rank < ranks; ++rank) {
      const int other = (rank + d) % ranks;
      tally.add(is_gather ? rank : other, is_gather ? other : rank, parts);
    }
  }
  return {tally.hops(size), 0, static_cast<int>(offsets(ranks).size())};
}

Steps pat_steps(Operation operation, int ranks) {
  const bool is_gather = operation == Operation::all_gather;
  Steps result;
  for (int rank = 0; rank < ranks; ++rank) result.chunks.push_back({1.0 / ranks, rank});
  for (const int d : offsets(ranks)) {
    Step& step = result.steps.emplace_back();
    for (int rank = 0; rank < ranks; ++rank) {
      const int other = (rank + d) % ranks;
      for (int behind = 0; behind + d < ranks; behind += 2 * d) {
        const int owner = (rank - behind + ranks) % ranks;
        step.push_back({is_gather ? rank : other, is_gather ? other : rank, owner, !is_gather});
      }
    }
  }
  if (!is_gather) std::reverse(result.steps.begin(), result.steps.end());
  return result;
}

}  // namespace sim::collective
