// A job whose last data-parallel replica lacks hosts.
#pragma once

#include <optional>

#include "sim/training/job.h"

namespace sim::fault {

// So many replicas cut as the job's plan says, where a job of only these has them, and on the next
// `devices` one more with fewer stages, its layers dealt anew. Micro-batches are those of the whole
// job, dealt by speed, where filling and draining the pipelines counts.
// None: it is too short for a stage, its memory does not hold the layers, or the micro-batches are
// fewer than stages.
// REQUIRES: as training::stage_costs(); replicas >= 1.
std::optional<plan::Plan> with_shorter_replica(const training::Job& job, int replicas, int devices);

}  // namespace sim::fault
