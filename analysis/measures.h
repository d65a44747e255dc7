// Numbers that follow from a result: rates, utilization, the fullest rank.
#pragma once

#include <optional>
#include <string>

#include "sim/training/result.h"

namespace analysis {

// Nothing where the quantity has no meaning: no iteration, no samples, no known peak.
std::optional<double> samples_per_second(const sim::training::Result& result);
std::optional<double> tokens_per_second_per_device(const sim::training::Result& result);
// Share of the dense peak of all devices that `flops` in every iteration come to.
std::optional<double> utilization(double flops, const sim::training::Result& result);

// Whether anything is known of how far the iteration time may be off.
bool has_interval(const sim::training::Result& result);

// The iteration time that a share of the iterations do not exceed: the shortest of them for which
// that is so, in picoseconds. Worked: of 4, 1, 3 and 2 s half do not exceed 2 s, and 95 % 4 s.
// REQUIRES: there are iterations, 0 < share <= 1.
std::int64_t iteration_percentile(const sim::training::Result& result, double share);

// The stage whose ranks fill most of their device's memory; the first of several. Null without
// stages.
const sim::training::StageMemory* fullest_stage(const sim::training::Result& result);

// "stage 3"; where replicas are not cut alike, "stage 3 of replica 2", the first that is cut so.
std::string stage_name(const sim::training::Result& result, int stage, int replica);

}  // namespace analysis
