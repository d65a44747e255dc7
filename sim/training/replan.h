// A job with slow devices, planned anew: what is planned is simulated.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "sim/plan/replanning.h"
#include "sim/training/moving.h"
#include "sim/training/simulate.h"

namespace sim::training {

// How many times as long a layer takes on each device of the plan; those that are slow throughout
// in computing or memory are slower than 1.
// REQUIRES: no device does nothing.
std::vector<double> slowdowns(const Job& job);

// A way to run the job around its slow devices.
struct PlannedAnew {
  plan::Replanning replanning;
  plan::Plan plan;                // with replicas of its own
  Picoseconds estimate = 0;       // the planner's
  Picoseconds iteration = 0;      // simulated
  bool fits = true;               // into the memory
  std::uint64_t fingerprint = 0;  // of the simulation
};

struct Replan {
  Picoseconds healthy = 0;         // an iteration without stragglers
  Picoseconds slow = 0;            // with them, with the plan as it is
  Picoseconds even = 0;            // without them, with layers dealt around embedding and head
  bool fits = true;                // the plan as it is, into the memory
  std::vector<double> slowdowns;   // [device]
  std::vector<PlannedAnew> tried;  // as plan::uneven_splits() lists them
  // The fastest that fits and is faster than the plan as it is.
  std::optional<std::size_t> best;
  // From the plan as it is to the best one; none of a dnn that is given by its times.
  std::optional<Moving> moving;

  // If the work could be dealt to the last bit: n / (sum of 1 / slowdown) times the faster of the
  // two iterations without stragglers.
  // Worked: 4 devices, one at half speed -> 8/7 of it.
  Picoseconds ideal() const;
  // Of the time that the stragglers cost, the share that the best plan saves.
  double won_back() const;
  // With the best plan, until moving has paid. Worked: 5 s of moving, 2 s saved -> 3.
  // REQUIRES: best and moving.
  std::int64_t iterations_to_pay() const;
};

// REQUIRES: plan::problems_of_replanning() finds none; a dnn; devices of one type.
std::variant<Replan, Stuck, TooLarge> replan(const Job& job);

}  // namespace sim::training
