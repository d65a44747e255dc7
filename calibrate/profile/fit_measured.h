// A profile from samples that we, or a user, measured.
#pragma once

#include <string>

#include "calibrate/profile/profile_data.h"

namespace calibrate::profile {

struct MeasuredDevice {
  std::string name;  // DeviceType::name
  double multiprocessors = 1;
  double level_error = 0.03;  // one standard deviation of all times, such as drift while measuring
  std::string measured;       // what, and under which conditions
  std::string load = "all processes at once, for minutes";  // of samples that are not "sustained"
  double port = 0;  // [byte/s] of the links that collectives use; 0: the memory's
};

// Fits every family of `measurement`, which needs products forward of one precision, memory and
// nothing else. Errors are those of five-fold cross-validation of the whole fit, of collectives of
// every second size left out. Deterministic. Throws ProfileError with what is missing.
ProfileData fit_measured(const MeasuredDevice& device, Measurement measurement);

// `data` with its collectives, products, attention and copies replaced where `measurement` has
// such; where they come from is added to its sources. Throws ProfileError where samples are too few
// to fit.
void replace_fitted(ProfileData& data, Measurement measurement, const std::string& source);

}  // namespace calibrate::profile
