// Reading a profile file.
#include "calibrate/profile/profile.h"

namespace calibrate::profile {

std::unique_ptr<Profile> read_profile(const std::filesystem::path& file, const DeviceType&) {
  throw ProfileError{"cannot read profile '" + file.string() + "'", "", ""};
}

std::string describe(const Profile& profile) { return profile.device().name + "\n"; }

}  // namespace calibrate::profile
