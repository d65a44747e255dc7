// What a command says of a job that cannot be run; the exit code.
#pragma once

#include "sim/command/options.h"
#include "sim/training/simulate.h"

namespace sim::command {

int stuck(const training::Stuck& stuck, const Common& common);
// `place`: of the plan.
int too_large(const training::TooLarge& large, const Place& place, const Common& common);

}  // namespace sim::command
