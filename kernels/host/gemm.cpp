// Matrix products by OpenBLAS.
#include "kernels/host/gemm.h"

#include <cblas.h>

#include <cstddef>

namespace kernels::host {

using calibrate::profile::Layout;

void gemm(const GemmCall& call) {
  const bool a_is_turned = call.layout == Layout::weight_gradient;
  const bool b_is_turned = call.layout == Layout::forward;
  cblas_sgemm(CblasRowMajor, a_is_turned ? CblasTrans : CblasNoTrans,
              b_is_turned ? CblasTrans : CblasNoTrans, call.m, call.n, call.k, 1.0F, call.a,
              a_is_turned ? call.m : call.k, call.b, b_is_turned ? call.k : call.n,
              call.accumulates ? 1.0F : 0.0F, call.c, call.n);
}

void plain_gemm(const GemmCall& call) {
  const auto m = static_cast<std::size_t>(call.m), n = static_cast<std::size_t>(call.n),
             k = static_cast<std::size_t>(call.k);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = call.accumulates ? call.c[i * n + j] : 0;
      for (std::size_t l = 0; l < k; ++l) {
        const float a =
            call.layout == Layout::weight_gradient ? call.a[l * m + i] : call.a[i * k + l];
        const float b = call.layout == Layout::forward ? call.b[j * k + l] : call.b[l * n + j];
        sum += static_cast<double>(a) * b;
      }
      call.c[i * n + j] = static_cast<float>(sum);
    }
  }
}

std::string core_name() { return openblas_get_corename(); }
void use_threads(int count) { openblas_set_num_threads(count); }

}  // namespace kernels::host
