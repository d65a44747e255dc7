// The schedule of a collective chunk by chunk: who sends what to whom in which step.
#pragma once

#include <vector>

#include "sim/collective/collective.h"

namespace sim::collective {

// Moves of a step happen at once: they read what members hold before it.
struct Move {
  int source = 0, target = 0;  // group ranks
  int chunk = 0;
  bool reduces = false;  // the target adds it to its own; else it takes it as it is
};
using Step = std::vector<Move>;

// A part of the buffer that moves as a whole.
struct Chunk {
  double share = 0;  // of the size
  int owner = 0;     // contributes it (all-gather), ends up with it (reduce-scatter), or the root
};
struct Steps {
  std::vector<Chunk> chunks;
  std::vector<Step> steps;
};

// For ring (all-reduce, all-gather, reduce-scatter, broadcast), tree, hierarchical and pat.
// Memory grows with the square of the ranks; traffic() gives the sums without it.
Steps steps(Operation operation, Algorithm algorithm, const Layout& layout);

}  // namespace sim::collective
