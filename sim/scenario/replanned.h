// Replicas that are cut each by itself as a scenario says it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/replica.h"
#include "sim/scenario/override.h"
#include "topology/cluster.h"

namespace sim::scenario {

// plan.replicas: neighbours that are cut alike are one entry, devices are named.
Value replicas_value(const std::vector<plan::Replica>& replicas, const topology::Cluster& cluster);

struct Replanned {
  std::string text;               // of a scenario file
  std::vector<std::string> left;  // sections that are not in it: they were about the other plan
};
// The scenario with the options' values and these replicas instead of its plan's cut, for a file in
// `folder`. Ranks that are slow and run no longer are left out. None: it cannot be read any more,
// which is reported.
std::optional<Replanned> replanned(const std::filesystem::path& file,
                                   const std::vector<Override>& overrides,
                                   const std::vector<plan::Replica>& replicas,
                                   const topology::Cluster& cluster,
                                   const std::filesystem::path& folder, Diagnostics& diagnostics);

}  // namespace sim::scenario
