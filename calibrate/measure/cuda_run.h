// Measures the GPUs of this machine: phases of cases on the first, collectives over all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/measure/harness.h"
#include "calibrate/profile/measurement.h"

namespace calibrate::measure {

struct CudaSettings {
  double minutes = 5;
  int samples = 5;  // of each shape, noisy ones get up to 3 more
  std::uint64_t seed = 1;
  bool is_warm = false;          // operands stay in the second-level cache
  std::filesystem::path output;  // table of samples, as 'maquette profile import' reads it
};

struct CudaProgress {
  std::function<bool()> is_stopped;
  std::function<void(const std::string& phase, double done)> progress;
  std::function<void(const std::string&)> warn;
};

// Writes the table after each phase, and beside it (.clocks.csv) clocks, power and what slowed the
// GPU, batch by batch as they come. Throws DeviceError, or std::runtime_error where a file cannot
// be written. True if it was not stopped.
bool measure_cuda(const CudaSettings& settings, const CudaProgress& told);

}  // namespace calibrate::measure
