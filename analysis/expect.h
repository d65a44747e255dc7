// What a scenario's `expect:` block says against what came out.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/training/result.h"

namespace analysis {

// One message for every expectation that is not met: place, quantity, expected and found.
// Quantities: iteration; a category of time ("bubble", "exposed.data", ...); end.OPERATION of a
// hand-written program; peak_memory; memory.weights, .gradients, .optimizer, .activations, .other
// (of the worst rank); parameters; rank.
std::vector<std::string> unmet(const std::vector<sim::scenario::Expectation>& expectations,
                               const sim::scenario::Scenario& scenario,
                               const sim::training::Result& result);

}  // namespace analysis
