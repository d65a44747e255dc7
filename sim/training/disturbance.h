// Disturbances as capacities that change with time.
#pragma once

#include "sim/training/system_builder.h"

namespace sim::training {

void disturb(const Job& job, SystemBuilder& builder);

}  // namespace sim::training
