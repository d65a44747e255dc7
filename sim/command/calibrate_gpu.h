// maquette calibrate on GPUs: the program that measures them, then fits and files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sim::command {

struct GpuRequest {
  double minutes = 5;
  int samples = 5;
  std::uint64_t seed = 1;
  bool is_warm = false, is_quiet = false;
  std::filesystem::path output;  // *.h5
  std::string from;              // table of samples that was measured elsewhere; empty: measure
};

// Exit code. Throws ProfileError where samples are too few.
int calibrate_gpu(const GpuRequest& request);

}  // namespace sim::command
