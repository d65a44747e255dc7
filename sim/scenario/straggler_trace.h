// A recorded course of a straggler, as comma-separated values.
#pragma once

#include <filesystem>

#include "sim/scenario/straggler.h"

namespace sim::scenario {

// The first line names the columns: `at [s]` (or [ms], [us]) and one or more of `compute [%]`,
// `memory [%]`, `link [%]`, `host [%]`, shares of normal from that instant on. Instants ascend.
// Lines that begin with # are not read. All that is wrong goes to `diagnostics`; then nothing is
// returned.
std::optional<StragglerTrace> read_straggler_trace(const std::filesystem::path& file,
                                                   const Place& place, Diagnostics& diagnostics);

}  // namespace sim::scenario
