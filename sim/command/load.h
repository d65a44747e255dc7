// From a scenario to a job that can run.
#pragma once

#include <memory>
#include <optional>

#include "sim/scenario/scenario.h"
#include "sim/training/job.h"
#include "topology/cluster.h"

namespace sim::command {

struct LoadedJob {
  std::unique_ptr<topology::Cluster> cluster;  // the job points into it
  training::Job job;
};

// Builds the cluster, reads the profiles, turns stragglers into disturbances. What is wrong goes to
// `diagnostics`; then nothing is returned.
std::optional<LoadedJob> load(const scenario::Scenario& scenario, Diagnostics& diagnostics);

}  // namespace sim::command
