// Constants between hosts from public logs of nccl-tests, with or without one of the runs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/profile/profile.h"

namespace calibrate::profile {

// The best documented device, where there is no usable log of another.
inline const std::string stand_in_device = "NVIDIA H100";

// By run of the device whose name in the logs starts with `device`; `left_out` is not among them.
// Throws ProfileError where the folder lacks the tables.
struct RingFabric {
  std::vector<double> steps, shares;  // [s] per ring step between hosts; of the NICs' rate
  std::vector<std::string> runs;
};
RingFabric fit_ring_fabric(const std::filesystem::path& folder, const std::string& device,
                           const NetworkConstants& inside, const std::string& left_out = "");

struct NvlsTreeFit {
  std::vector<double> fills;  // [s] a level, of long messages
  std::vector<std::string> runs;
};
NvlsTreeFit fit_nvls_tree(const std::filesystem::path& folder, const std::string& left_out = "");

// `shipped` with its constants between hosts fitted again without a run. Keeps a reference to it.
std::unique_ptr<Profile> refitted_without(const Profile& shipped,
                                          const std::filesystem::path& folder,
                                          const std::string& run);

}  // namespace calibrate::profile
