// What calibrate prints of its fits.
#pragma once

#include "calibrate/profile/profile_data.h"

namespace sim::command {

// A row for each fit, with its errors on samples held out.
void print_fit_errors(const calibrate::profile::ProfileData& data);

}  // namespace sim::command
