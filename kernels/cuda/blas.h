// Matrix products of training on the GPU by cuBLASLt, and grouped ones by cuBLAS, loaded at run
// time.
//
// Row-major. C is m x n, and
//   forward          C = A[m, k] B[n, k]^T       inputs, weights
//   input gradient   C = A[m, k] B[k, n]         output gradients, weights
//   weight gradient  C (+)= A[k, m]^T B[k, n]    output gradients, inputs: a sum over k tokens
// fp8 units take their operands in the forward layout only: gradients of fp8 are products of
// operands that were turned before, as training software does, so A[m, k] B[n, k]^T throughout.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/profile/profile.h"

namespace kernels::cuda {

struct Product {
  calibrate::profile::Precision precision = calibrate::profile::Precision::bf16;
  calibrate::profile::Layout layout = calibrate::profile::Layout::forward;
  int m = 0, n = 0, k = 0;
  bool accumulates = false;  // C += in fp32

  // As the simulator asks for it: gemm_flops() and gemm_bytes() are of this.
  calibrate::profile::GemmQuestion question() const;
  std::size_t a_bytes() const, b_bytes() const, c_bytes() const;
  // fp32 where it accumulates or computes in tf32, else 16 bits (fp8: bf16).
  std::size_t output_element() const;
};

class Blas {
 public:
  Blas();  // throws DeviceError
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  class Plan;
  // The kernel that the library prefers. Throws DeviceError where it has none: fp8 needs multiples
  // of 16 and compute capability 8.9.
  std::shared_ptr<Plan> plan(const Product& product) const;
  void run(const Plan& plan, const void* a, const void* b, void* c, cudaStream_t stream) const;
  std::string version() const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
};

// Products of bf16 rows of several groups, each with a matrix of its own: C_i = A_i[rows_i, k]
// B_i[n, k]^T, forward.
struct GroupedProduct {
  std::vector<int> rows;
  int n = 0, k = 0;
  calibrate::profile::GroupedGemmQuestion question() const;
};

class GroupedBlas {
 public:
  GroupedBlas();  // throws DeviceError: cuBLAS 12.5 is needed
  ~GroupedBlas();
  GroupedBlas(const GroupedBlas&) = delete;
  GroupedBlas& operator=(const GroupedBlas&) = delete;
  // Rows of all groups stand one after the other in `a` and `c`, matrices in `b`; the pointers to
  // them are written to `pointers`, 3 x groups, on the device, by prepare().
  void prepare(const GroupedProduct& product, const void* a, const void* b, void* c,
               void** pointers) const;
  void run(const GroupedProduct& product, void** pointers, cudaStream_t stream) const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
};

}  // namespace kernels::cuda
