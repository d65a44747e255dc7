// What must hold between the sections of a scenario.
#pragma once

#include "sim/scenario/reader.h"
#include "sim/scenario/tables.h"
#include "topology/cluster.h"

namespace sim::scenario {

// Devices that may work: all but those of the spare hosts, which are the last ones.
std::int64_t usable_devices(const topology::Description& cluster);

// Reports what is wrong between sections that are right by themselves, and derives what the file
// leaves to us: the data-parallel degree.
void check_cluster(Reader& reader, const Draft& draft);
void check_plan(Reader& reader, Draft& draft);
// Replicas that are not alike, each on its devices. False: something was wrong, and is reported.
bool derive_replicas(Reader& reader, Draft& draft, std::int64_t devices);
// Whether the hosts can do what the plan offloads to them.
void check_offload(Reader& reader, Draft& draft);
// `root`: of the file.
void check_job_time(Reader& reader, const Value& root, Draft& draft);
void check_operations(Reader& reader, const Draft& draft);
// `path` of the operation; `members` are known and at least two.
void check_forced(Reader& reader, const std::string& path, const topology::Cluster& cluster,
                  const HandOperation::Collective& collective,
                  const std::vector<topology::DeviceIndex>& members);

}  // namespace sim::scenario
