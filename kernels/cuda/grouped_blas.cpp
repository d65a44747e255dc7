// Grouped products by cuBLAS.
#include <cublas_v2.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/blas.h"
#include "kernels/cuda/device.h"

namespace kernels::cuda {

namespace {

void check_blas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError{fmt::format("{}: cuBLAS answered {}", what, static_cast<int>(status)),
                    "the library, its driver and the device may not fit each other", ""};
}

}  // namespace

struct GroupedBlas::Functions {
  Library library{
      "cuBLAS",
      {"libcublas.so.13", "libcublas.so.12", "libcublas.so", "/usr/local/cuda/lib64/libcublas.so"}};
  decltype(cublasCreate_v2)* create = nullptr;
  decltype(cublasDestroy_v2)* destroy = nullptr;
  decltype(cublasSetStream_v2)* set_stream = nullptr;
  decltype(cublasGemmGroupedBatchedEx)* multiply = nullptr;
  cublasHandle_t handle = nullptr;

  Functions() {
    library.find(create, "cublasCreate_v2");
    library.find(destroy, "cublasDestroy_v2");
    library.find(set_stream, "cublasSetStream_v2");
    library.find(multiply, "cublasGemmGroupedBatchedEx");
    check_blas(create(&handle), "cublasCreate");
  }
};

calibrate::profile::GroupedGemmQuestion GroupedProduct::question() const {
  calibrate::profile::GroupedGemmQuestion question;
  question.groups = static_cast<std::int64_t>(rows.size());
  int most = 0;
  for (const int count : rows) {
    question.rows += count;
    most = std::max(most, count);
  }
  question.n = n;
  question.k = k;
  if (question.rows > 0) {
    question.imbalance = static_cast<double>(most) * static_cast<double>(rows.size()) /
                         static_cast<double>(question.rows);
  }
  return question;
}

GroupedBlas::GroupedBlas() : functions_(std::make_unique<Functions>()) {}
GroupedBlas::~GroupedBlas() { functions_->destroy(functions_->handle); }

void GroupedBlas::prepare(const GroupedProduct& product, const void* a, const void* b, void* c,
                          void** pointers) const {
  constexpr std::size_t element = 2;
  const std::size_t groups = product.rows.size();
  const auto n = static_cast<std::size_t>(product.n), k = static_cast<std::size_t>(product.k);
  std::vector<std::uintptr_t> all(3 * groups);  // B, A, C: column-major
  std::size_t before = 0;
  for (std::size_t i = 0; i < groups; ++i) {
    all[i] = reinterpret_cast<std::uintptr_t>(b) + element * i * n * k;
    all[groups + i] = reinterpret_cast<std::uintptr_t>(a) + element * before * k;
    all[2 * groups + i] = reinterpret_cast<std::uintptr_t>(c) + element * before * n;
    before += static_cast<std::size_t>(product.rows[i]);
  }
  check(cudaMemcpy(static_cast<void*>(pointers), all.data(), all.size() * sizeof(void*),
                   cudaMemcpyHostToDevice),
        "a copy of pointers");
}

void GroupedBlas::run(const GroupedProduct& product, void** pointers, cudaStream_t stream) const {
  const std::size_t groups = product.rows.size();
  const std::vector<cublasOperation_t> turned(groups, CUBLAS_OP_T), straight(groups, CUBLAS_OP_N);
  const std::vector<int> n(groups, product.n), k(groups, product.k), one(groups, 1);
  const std::vector<float> alpha(groups, 1.0F), beta(groups, 0.0F);
  check_blas(functions_->set_stream(functions_->handle, stream), "cublasSetStream");
  check_blas(functions_->multiply(functions_->handle, turned.data(), straight.data(), n.data(),
                                  product.rows.data(), k.data(), alpha.data(), pointers,
                                  CUDA_R_16BF, k.data(), pointers + groups, CUDA_R_16BF, k.data(),
                                  beta.data(), pointers + 2 * groups, CUDA_R_16BF, n.data(),
                                  static_cast<int>(groups), one.data(), CUBLAS_COMPUTE_32F),
             "a grouped product");
}

}  // namespace kernels::cuda
