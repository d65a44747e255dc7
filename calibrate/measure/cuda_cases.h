// What is measured on one GPU, and the memory that it works on.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/profile/measurement.h"
#include "kernels/cuda/blas.h"
#include "kernels/cuda/device.h"

namespace calibrate::measure {

// Operands come from a ring of memory larger than the second-level cache, so that it is cold;
// `is_warm` takes the same memory every time. What is read is never written: numbers stay finite.
class DeviceArena {
 public:
  DeviceArena(std::size_t bytes, bool is_warm);
  void* input(std::size_t bytes) { return take(inputs_, next_input_, bytes); }
  void* output(std::size_t bytes) { return take(outputs_, next_output_, bytes); }
  // Of one operand.
  std::size_t bytes_most() const { return inputs_.size(); }

 private:
  void* take(const kernels::cuda::Buffer& ring, std::size_t& next, std::size_t bytes) const;

  kernels::cuda::Buffer inputs_, outputs_;
  std::size_t next_input_ = 0, next_output_ = 0;
  bool is_warm_;
};

struct CudaCase {
  profile::MeasuredCase what;                // no samples yet
  std::function<void(cudaStream_t)> launch;  // of one execution
  double bytes = 0;                          // that one execution touches
  bool can_be_recorded = true;               // as a graph
};

struct CudaPhase {
  std::string name;
  double share = 0;  // of the budget
  std::vector<CudaCase> cases;
};

// Products and operators on the device in use; those that the device, its memory or its libraries
// cannot run are left out and named in `left_out`. Keeps references to `arena` and `blas`.
std::vector<CudaPhase> cuda_phases(const kernels::cuda::DeviceFacts& facts, DeviceArena& arena,
                                   const kernels::cuda::Blas& blas,
                                   std::vector<std::string>& left_out);
// Large products that are also run for seconds on end: precision, m, n, k. All are among the cases
// of cuda_phases().
std::vector<kernels::cuda::Product> sustained_products(const kernels::cuda::DeviceFacts& facts);

}  // namespace calibrate::measure
