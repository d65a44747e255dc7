// Every kernel of the GPU against its twin on the CPU.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kernels::cuda {

struct Verdict {
  std::string kernel;
  double error = 0;       // largest, in units of what rounding allows: fine up to 1
  std::string complaint;  // not empty: it could not be run
  bool is_fine() const { return complaint.empty() && error <= 1; }
};

// On the device in use. `told` hears each verdict as it comes. Throws DeviceError where nothing can
// be run at all.
std::vector<Verdict> check_kernels(const std::function<void(const Verdict&)>& told);

}  // namespace kernels::cuda
