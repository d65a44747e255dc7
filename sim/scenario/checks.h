// What must hold between the sections of a scenario.
#pragma once

#include "sim/scenario/reader.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {

// Devices that may work: all but those of the spare hosts, which are the last ones.
std::int64_t usable_devices(const topology::Description& cluster);

// Reports what is wrong between sections that are right by themselves, and derives what the file
// leaves to us: the data-parallel degree.
void check_cluster(Reader& reader, const Draft& draft);
void check_plan(Reader& reader, Draft& draft);
void check_operations(Reader& reader, const Draft& draft);

}  // namespace sim::scenario
