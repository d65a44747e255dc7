// Asks the engine how fast a job trains in a state of its cluster.
#pragma once

#include <array>
#include <stdexcept>

#include "sim/fault/rates.h"
#include "sim/training/job.h"
#include "sim/training/result.h"
#include "topology/description.h"

namespace sim::fault {

// The job cannot run in a state that it would come to.
struct StateCannotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct EngineJob {
  const training::Job* job = nullptr;
  const topology::Description* cluster = nullptr;
  const training::Result* whole = nullptr;  // of the job as it is
  // [Writing] load of a checkpoint that is written beside training
  std::array<BytesPerSecond, writing_count> writing_per_nic = {};
  // [Writing] whether it also goes through the links above the leaves
  std::array<bool, writing_count> leaves_group = {};
};

// Samples per second of the last iteration. Fewer replicas keep their micro-batches each, so the
// global batch is smaller, or share those of all. A part of a replica runs as
// with_shorter_replica() says where the job is faster with it, and is idle otherwise. Writing takes
// its rate from every NIC, and of what goes beyond the leaves from their up links as much a port.
// A flow with a rate of its own below its fair share has just that, so this is what flows of the
// checkpoint would do, spread evenly over its time. Throws StateCannotRun. REQUIRES: hosts of one
// size where something is written, or a part runs.
double samples_per_second(const EngineJob& what, const ClusterState& state);

}  // namespace sim::fault
