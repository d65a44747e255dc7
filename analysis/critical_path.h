// What the end of an iteration waited for, found from the timeline of the representative ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/training/result.h"

namespace analysis {

// A piece of the path: an operation, or nothing where no operation ended when the next one began
// (a latency, a launch, or a rank that is not shown).
struct PathPiece {
  std::size_t track = 0;                      // of the operation; before a gap, of the next one
  const sim::training::Span* span = nullptr;  // into the result; null: a gap
  std::int64_t start_ps = 0, end_ps = 0;
};

// From the start of the iteration to the end of what ends last, without holes. An operation is
// preceded by one that ended in the very picosecond in which it began: of its own stream if there
// is one, else of its rank, else of another. Where none did, by a gap and the last one of its rank.
std::vector<PathPiece> critical_path(const sim::training::Result& result);

}  // namespace analysis
