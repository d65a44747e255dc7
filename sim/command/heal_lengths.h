// Lengths of documents as a cause of waiting, and the job without it.
#pragma once

#include "sim/scenario/scenario.h"

namespace sim::command {

// Whether micro-batches differ by how long the documents in them are.
bool do_lengths_vary(const scenario::Scenario& scenario);

// Every micro-batch costs what their mean costs: the work stays, and is spread evenly.
scenario::Scenario with_lengths_healed(scenario::Scenario scenario);

}  // namespace sim::command
