// A profile that answers from fitted models.
#pragma once

#include <array>

#include "calibrate/profile/profile_data.h"

namespace calibrate::profile {

// The burst time of the fitted tile model and its correction, in the layout that was measured
// (forward), conversion of inputs included. What a fit is compared with.
double burst_seconds(const GemmModel& model, const GemmShape& shape);
double burst_seconds(const GroupedGemmModel& model, const ExpertBlock& block);
double burst_seconds(const GroupedGemmModel& model, const GroupedShape& shape);
double burst_seconds(const AttentionModel& model, const AttentionShape& shape);

AttentionShape attention_shape(const AttentionQuestion& question);
// Seconds per byte of left input that an answer leaves out as conversion: what was fitted, at most
// a pass for the largest value (2 bytes) and one that reads 2 and writes 1, at 0.9 of the memory
// rate. The fit alone would take more and leave products faster than any published fp8 benchmark.
double conversion_taken_out(const GemmModel& model);
// What the smooth correction of attention sees.
std::array<double, 4> attention_features(const AttentionShape& shape);

// A smooth correction may not run away where nothing was measured.
inline constexpr double correction_most = 0.25;

}  // namespace calibrate::profile
