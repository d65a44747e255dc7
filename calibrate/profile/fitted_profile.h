// A profile that answers from fitted models.
#pragma once

#include <array>

#include "calibrate/profile/profile_data.h"

namespace calibrate::profile {

// The burst time of the fitted tile model and its correction, in the layout that was measured
// (forward), conversion of inputs included. What a fit is compared with.
double burst_seconds(const GemmModel& model, const GemmShape& shape);
double burst_seconds(const AttentionModel& model, const AttentionShape& shape);

AttentionShape attention_shape(const AttentionQuestion& question);
// What the smooth correction of attention sees.
std::array<double, 4> attention_features(const AttentionShape& shape);

// FITS: a smooth correction may not run away where nothing was measured.
inline constexpr double correction_most = 0.25;

}  // namespace calibrate::profile
