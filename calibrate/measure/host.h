// Measures this machine's CPU: products, operators bound by memory, collectives of processes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "calibrate/measure/harness.h"
#include "calibrate/profile/measurement.h"

namespace calibrate::measure {

struct HostSettings {
  double minutes = 2;
  int ranks = 2, threads = 1;  // processes, which all run the same at once; threads of each
  int samples = 5;             // of each shape, noisy ones get up to 3 more
  std::uint64_t seed = 1;
};

struct HostOutcome {
  profile::Measurement measurement;  // cases without a sample left out
  Outcome outcome;
};

// Warm caches hide what training pays: operands go round an arena larger than them. Throws
// TeamError.
HostOutcome measure_host(const HostSettings& settings, const std::function<bool()>& is_stopped,
                         const std::function<void(double done)>& progress);

std::string cpu_name();
// A complaint if OpenBLAS runs kernels without AVX on a CPU that has it; empty if not.
std::string slow_kernels();

}  // namespace calibrate::measure
