// Chunk-level schedules of hierarchical collectives.
#pragma once

#include "sim/collective/hosts.h"
#include "sim/collective/steps.h"

namespace sim::collective {

Steps lane_steps(Operation operation, const Hosts& hosts);

}  // namespace sim::collective
