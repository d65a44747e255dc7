// Cases of a GPU beside its products: operators bound by memory, launches, transfers, overlap.
#pragma once

#include <string>
#include <vector>

#include "calibrate/measure/cuda_cases.h"

namespace calibrate::measure {

// What the one curve of a profile is fitted to: operators that stream through memory.
std::vector<CudaCase> memory_cases(DeviceArena& arena);
// Kept as samples: embedding gradients, grouped products, launches with and without a graph,
// transfers over PCIe, products while a copy takes multiprocessors and memory.
std::vector<CudaCase> other_cases(const kernels::cuda::DeviceFacts& facts, DeviceArena& arena,
                                  const kernels::cuda::Blas& blas,
                                  std::vector<std::string>& left_out);

}  // namespace calibrate::measure
