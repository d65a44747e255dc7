// Runs a job and says what happened.
#pragma once

#include <variant>

#include "sim/network/outcome.h"
#include "sim/training/job.h"
#include "sim/training/result.h"

namespace sim::training {

// The job cannot proceed: streams wait for each other.
using network::Stuck;

// REQUIRES: the plan has no problems, every device type has a profile, rank r fits on device r.
std::variant<Result, Stuck, TooLarge> simulate(const Job& job);

// What to change next: variations of the plan that fit and are faster, best first, each with its
// iteration time from a run of its own. Nothing when the job is too large to try them at once.
std::vector<std::string> advice(const Job& job, const Result& result);

}  // namespace sim::training
