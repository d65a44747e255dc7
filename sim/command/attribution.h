// What each straggler costs: the job run again with that one healed.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/training/simulate.h"

namespace sim::command {

// Iteration times in picoseconds.
struct Healed {
  std::string what;  // "h0.gpu1: compute 77 %", "all that is slow in links"
  std::int64_t iteration_ps = 0;
};

struct Attribution {
  std::int64_t iteration_ps = 0;  // with all stragglers
  std::int64_t ideal_ps = 0;      // with none
  // Each entry of the scenario healed alone, in its order; then lengths of documents, which count
  // as one where micro-batches differ by them.
  std::vector<Healed> one;
  std::vector<Healed> kinds;  // everything of a kind healed; empty where there is one kind only

  double slowdown() const;
  // Share of what the stragglers cost that healing saves; below 0 where it makes the job slower.
  double explains(const Healed& healed) const;
};

// REQUIRES: the scenario has stragglers or lengths that vary, and load() accepts it.
// Source of the method: Lin et al., "Understanding Stragglers in Large Model Training Using What-if
// Analysis", OSDI 2025.
std::variant<Attribution, training::Stuck, training::TooLarge> attribution(
    const scenario::Scenario& scenario);

}  // namespace sim::command
