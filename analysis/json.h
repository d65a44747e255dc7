// Results and errors for programs: one JSON object, SI units.
#pragma once

#include <optional>
#include <string>

#include "sim/base/diagnostics.h"
#include "sim/fault/outlook.h"
#include "sim/training/result.h"

namespace analysis {

// The object of `maquette run --json`, on one line. Quantities end in their unit: _s seconds,
// _bytes bytes; the parts of `memory` are bytes and those of `time.exposed` seconds. What has no
// meaning for the run (`memory` of hand-written operations) is null. Times are whole picoseconds,
// every digit written, so the parts of `time` sum to `iteration_time_s` exactly.
// `outlook`: of a job with failures, as the member `job`.
std::string to_json(const sim::training::Result& result,
                    const std::optional<sim::fault::Outlook>& outlook = std::nullopt);

// {"errors": [{"file", "line", "column", "message", "why", "hint"}]}, in order. Warnings only where
// there is no error: then they are what stopped the run. A place or text that is not there is null.
std::string errors_json(const sim::Diagnostics& diagnostics);

}  // namespace analysis
