// The machines that a measured collective ran on, with their timing models.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/scenario/measured_collectives.h"

namespace sim::command {

struct MeasuredGroup {
  LoadedJob loaded;
  std::vector<topology::DeviceIndex> members;
  std::vector<std::string> assumed;
  std::string why_not;  // empty: all is there
};

// A cluster of the catalog, or of the scenario in a file. Nothing after reporting why.
std::optional<LoadedJob> load_cluster(const std::string& name, const Common& common,
                                      Diagnostics& diagnostics);

// As many devices of each of the first hosts as the run had.
MeasuredGroup group_on(const LoadedJob& loaded, const scenario::CollectiveRun& run);

// On hosts of the catalog with the NICs that the run states; why_not where it does not state
// enough, or the catalog has no such host or no fitted profile of the device.
MeasuredGroup group_of(const scenario::CollectiveRun& run);

// What the settings of a run force: NCCL_ALGO and NCCL_PROTO.
collective::Forced forced_by(const std::string& settings);

}  // namespace sim::command
