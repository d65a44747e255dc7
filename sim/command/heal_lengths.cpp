// Each micro-batch gets the mean sum of squared lengths.
#include "sim/command/heal_lengths.h"

#include <utility>

namespace sim::command {

bool do_lengths_vary(const scenario::Scenario& scenario) {
  return scenario.plan.packing && plan::packed_batch(scenario.plan).sums.size() > 1;
}

scenario::Scenario with_lengths_healed(scenario::Scenario scenario) {
  if (scenario.plan.packing) scenario.plan.packing->is_leveled = true;
  return scenario;
}

}  // namespace sim::command
