// The streams of a program written by hand.
#pragma once

#include "sim/training/job_system.h"

namespace sim::training {

// REQUIRES: every device named exists, `after` names earlier or later operations without a cycle.
JobSystem hand_system(const Job& job);

}  // namespace sim::training
