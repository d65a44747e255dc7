// The program of the stream that launches what a lane computes.
#pragma once

#include <vector>

#include "sim/training/program_writer.h"
#include "sim/training/segment.h"

namespace sim::training {

// Host milestone i: the launches of compute step i have ended. The host is at most `run_ahead`
// launches ahead of the device, for which the compute program gets milestones from
// `first_milestone` on. `loads_launches`: they load footprint_launches, as its host is slow.
network::Program host_program(const std::vector<Launch>& launches, int run_ahead,
                              bool loads_launches, int first_milestone, ProgramWriter& compute);

}  // namespace sim::training
