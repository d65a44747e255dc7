// Clocks, power and why a GPU runs slower than it could, by NVML, loaded at run time.
#pragma once

#include <memory>
#include <string>

#include "kernels/cuda/library.h"

namespace kernels::cuda {

struct GpuState {
  double clock = 0;        // [MHz] of the multiprocessors
  double power = 0;        // [W]
  double temperature = 0;  // [degrees Celsius]
  // Empty: full speed. Else words such as "power limit", "thermal".
  std::string slowed_by;
};

class Nvml {
 public:
  // Of the device at a place on the PCIe bus. Throws DeviceError.
  explicit Nvml(const std::string& bus);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  GpuState state() const;
  double power_limit() const;  // [W]

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
};

// Words for the bits of nvmlClocksEventReasons.
std::string slowed_by(unsigned long long reasons);

}  // namespace kernels::cuda
