// What makes a recorded run slow: it is replayed with parts of it healed.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/timeline.h"

namespace analysis {

// Part of a run: the operations of a type, a stage, a data rank or a worker.
struct HealedPart {
  std::string what;
  Picoseconds without = 0;  // of an iteration with this part healed
  Picoseconds alone = 0;    // of an iteration with everything else healed
};

// Times of an iteration, means over all steps.
struct TimelineAttribution {
  Picoseconds recorded = 0;  // from the first start to the last end
  Picoseconds replayed = 0;  // without pauses between operations
  Picoseconds ideal = 0;     // everything healed
  std::vector<HealedPart> types, stages, data, workers;
  std::vector<TimelineWorker> ranks;  // [worker]
  // The slowest 3 % of the workers, at least one, by what is left with all others healed.
  std::vector<int> slowest;
  Picoseconds without_slowest = 0;

  double slowdown(Picoseconds iteration) const {
    return static_cast<double>(iteration) / static_cast<double>(ideal);
  }
  // Share of the slowdown that goes; below 0 where the job gets slower.
  double explains(Picoseconds without) const {
    const auto cost = static_cast<double>(replayed - ideal);
    return cost == 0 ? 0 : static_cast<double>(replayed - without) / cost;
  }
};

// Operations wait for each other; says which.
struct TimelineStuck {
  std::string who;
};

// A replay starts every operation when the one before it on its worker has ended, and where several
// go on together, when all have come to it; those that began at the same instant on a worker begin
// together. They then take what they took from when the last had started to when the first had
// ended. A healed computation takes the mean of its type over all workers and steps, other healed
// operations the median; one of several workers takes as long as that of the slowest.
// Source of the method: Lin et al., "Understanding Stragglers in Large Model Training Using What-if
// Analysis", OSDI 2025, sections 3 and 4.
std::variant<TimelineAttribution, TimelineStuck> attribute(const Timeline& timeline);

}  // namespace analysis
