// Profiles fitted from public measurements.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/profile/profile_data.h"

namespace calibrate::profile {

// Device types for which `fit_public_profile` knows where their measurements are.
std::vector<std::string> public_device_names();

// Reads the tables under `folder` (gemm, attention, memory, nccl) and fits every family.
// Deterministic; seconds to a minute. Throws ProfileError.
ProfileData fit_public_data(const std::string& device, const std::filesystem::path& folder);

// The same, written to `output`/<device>.h5. Returns that path.
std::filesystem::path fit_public_profile(const std::string& device,
                                         const std::filesystem::path& folder,
                                         const std::filesystem::path& output);

}  // namespace calibrate::profile
