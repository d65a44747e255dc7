// Disturbances as capacities that change with time.
#pragma once

#include <vector>

#include "sim/training/system_builder.h"

namespace sim::training {

void disturb(const Job& job, SystemBuilder& builder);

// [device] what its memory delivers, in bytes/s.
std::vector<std::int64_t> memory_rates(const Job& job);

}  // namespace sim::training
