// What a person should know about a profile, one line each.
#pragma once

#include <string>
#include <vector>

#include "calibrate/profile/profile_data.h"

namespace calibrate::profile {

std::vector<std::string> notes_of(const ProfileData& data);

}  // namespace calibrate::profile
