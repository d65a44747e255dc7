// Matrix products on the CPU by OpenBLAS, fp32, in the three layouts of training.
//
// Row-major. C is m x n, and
//   forward          C (+)= A[m, k] B[n, k]^T    inputs, weights
//   input gradient   C (+)= A[m, k] B[k, n]      output gradients, weights
//   weight gradient  C (+)= A[k, m]^T B[k, n]    output gradients, inputs: a sum over k tokens
#pragma once

#include <string>

#include "calibrate/profile/profile.h"

namespace kernels::host {

struct GemmCall {
  calibrate::profile::Layout layout = calibrate::profile::Layout::forward;
  int m = 0, n = 0, k = 0;
  bool accumulates = false;  // C += instead of C =
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
};

void gemm(const GemmCall& call);
// The same by three loops, summed in double: what gemm() is tested against.
void plain_gemm(const GemmCall& call);

// The kernels that OpenBLAS chose for this CPU; one it does not know gets very slow ones.
std::string core_name();
void use_threads(int count);

}  // namespace kernels::host
