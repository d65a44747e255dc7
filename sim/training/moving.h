// Getting from one plan of a job to another: its states change devices.
#pragma once

#include <optional>

#include "sim/training/job.h"

namespace sim::training {

struct Moving {
  Bytes total;
  Bytes into_one;        // at most, into one device
  Picoseconds time = 0;  // all of it at once, on an idle cluster with the job's slow links
};

// Weights and optimizer states, from the job's plan to `next`: plan::state_moves(). Optimizer
// states that replicas share are taken to be cut unit by unit. None: the dnn is given by its times.
// REQUIRES: plan::problems_of_replanning() finds none for the job; `next` lists its replicas.
std::optional<Moving> moving(const Job& job, const plan::Plan& next);

}  // namespace sim::training
