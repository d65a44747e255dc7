// Matrix products by OpenBLAS.
#include "kernels/host/gemm.h"

#include <cblas.h>

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

std::string core_name() { return openblas_get_corename(); }
void use_threads(int count) { openblas_set_num_threads(count); }

}  // namespace kernels::host
