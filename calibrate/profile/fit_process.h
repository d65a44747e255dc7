// Fitting the smooth correction: a Gaussian process by marginal likelihood.
#pragma once

#include <vector>

#include "calibrate/profile/gaussian_process.h"

namespace calibrate::profile {

// features[point][feature]; residuals[point], of log time. Deterministic.
// Hyperparameters: length per feature within [0.05, 55] standard deviations, noise within
// [0.003, 0.5]; priors log length ~ N(0, 1.5), log noise ~ N(log 0.03, 1). They are found on at
// most 460 evenly chosen points; all points carry weights.
GaussianProcess fit_process(const std::vector<std::vector<double>>& features,
                            const std::vector<double>& residuals);

}  // namespace calibrate::profile
