// Weeks of a job as text and as JSON.
#pragma once

#include <string>

#include "analysis/json_writer.h"
#include "sim/fault/outlook.h"

namespace analysis {

// Effective training time, where time is lost and to what, the best interval between checkpoints,
// spares, time and cost. ASCII; every number with its unit.
std::string job_summary(const sim::fault::Outlook& outlook);

// The object `job` of `maquette run --json`. Quantities end in their unit, as there; of a history
// on average. Numbers that differ from history to history: {"mean", "half_width", "p10", "p90"}.
void add_job(JsonWriter& json, const sim::fault::Outlook& outlook);

}  // namespace analysis
