// cuBLASLt behind row-major products.
#include "kernels/cuda/blas.h"

#include <cublasLt.h>
#include <fmt/format.h>

#include "calibrate/profile/names.h"
#include "calibrate/profile/roofline.h"
#include "kernels/cuda/device.h"

namespace kernels::cuda {

using calibrate::profile::Layout;
using calibrate::profile::Precision;

namespace {

// What training software gives the library on Hopper and later.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

void check_blas(cublasStatus_t status, const std::string& what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError{fmt::format("{}: cuBLAS answered {}", what, static_cast<int>(status)),
                    "the library, its driver and the device may not fit each other", ""};
}

cudaDataType_t input_type(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return CUDA_R_16BF;
    case Precision::fp16:
      return CUDA_R_16F;
    case Precision::fp8:
      return CUDA_R_8F_E4M3;
    case Precision::fp32:
    case Precision::tf32:
      return CUDA_R_32F;
  }
  return CUDA_R_32F;
}

cudaDataType_t output_type(const Product& product) {
  if (product.output_element() == 4) return CUDA_R_32F;
  return product.precision == Precision::fp16 ? CUDA_R_16F : CUDA_R_16BF;
}

}  // namespace

calibrate::profile::GemmQuestion Product::question() const {
  return {.m = m,
          .n = n,
          .k = k,
          .precision = precision,
          .layout = layout,
          .accumulates_fp32 = accumulates};
}

std::size_t Product::output_element() const {
  const bool is_wide = accumulates || precision == Precision::fp32 || precision == Precision::tf32;
  return is_wide ? 4 : 2;
}

std::size_t Product::a_bytes() const {
  const auto element = static_cast<std::size_t>(calibrate::profile::bytes_per_element(precision));
  return element * static_cast<std::size_t>(m) * static_cast<std::size_t>(k);
}

std::size_t Product::b_bytes() const {
  const auto element = static_cast<std::size_t>(calibrate::profile::bytes_per_element(precision));
  return element * static_cast<std::size_t>(n) * static_cast<std::size_t>(k);
}

std::size_t Product::c_bytes() const {
  return output_element() * static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
}

struct Blas::Functions {
  Library library{"cuBLASLt",
                  {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                   "/usr/local/cuda/lib64/libcublasLt.so"}};
  decltype(cublasLtCreate)* create = nullptr;
  decltype(cublasLtDestroy)* destroy = nullptr;
  decltype(cublasLtGetVersion)* version = nullptr;
  decltype(cublasLtMatmul)* multiply = nullptr;
  decltype(cublasLtMatmulDescCreate)* operation_create = nullptr;
  decltype(cublasLtMatmulDescDestroy)* operation_destroy = nullptr;
  decltype(cublasLtMatmulDescSetAttribute)* operation_set = nullptr;
  decltype(cublasLtMatrixLayoutCreate)* layout_create = nullptr;
  decltype(cublasLtMatrixLayoutDestroy)* layout_destroy = nullptr;
  decltype(cublasLtMatmulPreferenceCreate)* preference_create = nullptr;
  decltype(cublasLtMatmulPreferenceDestroy)* preference_destroy = nullptr;
  decltype(cublasLtMatmulPreferenceSetAttribute)* preference_set = nullptr;
  decltype(cublasLtMatmulAlgoGetHeuristic)* heuristic = nullptr;
  cublasLtHandle_t handle = nullptr;
  std::unique_ptr<Buffer> workspace, scale;  // scale: one float, 1

  Functions() {
    library.find(create, "cublasLtCreate");
    library.find(destroy, "cublasLtDestroy");
    library.find(version, "cublasLtGetVersion");
    library.find(multiply, "cublasLtMatmul");
    library.find(operation_create, "cublasLtMatmulDescCreate");
    library.find(operation_destroy, "cublasLtMatmulDescDestroy");
    library.find(operation_set, "cublasLtMatmulDescSetAttribute");
    library.find(layout_create, "cublasLtMatrixLayoutCreate");
    library.find(layout_destroy, "cublasLtMatrixLayoutDestroy");
    library.find(preference_create, "cublasLtMatmulPreferenceCreate");
    library.find(preference_destroy, "cublasLtMatmulPreferenceDestroy");
    library.find(preference_set, "cublasLtMatmulPreferenceSetAttribute");
    library.find(heuristic, "cublasLtMatmulAlgoGetHeuristic");
    check_blas(create(&handle), "cublasLtCreate");
    workspace = std::make_unique<Buffer>(workspace_bytes);
    scale = std::make_unique<Buffer>(sizeof(float));
    const float one = 1;
    check(cudaMemcpy(scale->as(), &one, sizeof one, cudaMemcpyHostToDevice), "a copy");
  }
};

// Column-major, as cuBLAS counts: C^T = op(B) op(A), so B comes first.
class Blas::Plan {
 public:
  Plan(const Functions& functions, const Product& product);
  ~Plan() {
    for (const cublasLtMatrixLayout_t layout : {b_, a_, c_}) functions_.layout_destroy(layout);
    functions_.operation_destroy(operation_);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  void choose();
  void run(const void* a, const void* b, void* c, cudaStream_t stream) const;

 private:
  const Functions& functions_;
  Product product_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_ = {};
};

Blas::Plan::Plan(const Functions& functions, const Product& product)
    : functions_(functions), product_(product) {
  const bool is_fp8 = product.precision == Precision::fp8;
  const Layout layout = is_fp8 ? Layout::forward : product.layout;
  const cublasComputeType_t compute =
      product.precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  check_blas(functions.operation_create(&operation_, compute, CUDA_R_32F), "a product");
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    check_blas(functions.operation_set(operation_, attribute, &value, sizeof value), "a product");
  };
  const cublasOperation_t turned = CUBLAS_OP_T, straight = CUBLAS_OP_N;
  const bool b_is_turned = layout == Layout::forward;
  const bool a_is_turned = layout == Layout::weight_gradient;
  set(CUBLASLT_MATMUL_DESC_TRANSA, b_is_turned ? turned : straight);
  set(CUBLASLT_MATMUL_DESC_TRANSB, a_is_turned ? turned : straight);
  if (is_fp8) {
    const float* scale = functions.scale->as<float>();
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale);
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale);
    // Forward sums as the units do; gradients are added up in full precision.
    const std::int8_t is_fast = product.layout == Layout::forward ? 1 : 0;
    set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, is_fast);
  }
  const auto m = static_cast<std::uint64_t>(product.m), n = static_cast<std::uint64_t>(product.n),
             k = static_cast<std::uint64_t>(product.k);
  const cudaDataType_t input = input_type(product.precision);
  // Rows, columns and the distance of columns of what is stored.
  const auto matrix = [&](cublasLtMatrixLayout_t& which, cudaDataType_t type, std::uint64_t rows,
                          std::uint64_t columns) {
    check_blas(
        functions.layout_create(&which, type, rows, columns, static_cast<std::int64_t>(rows)),
        "a matrix");
  };
  b_is_turned ? matrix(b_, input, k, n) : matrix(b_, input, n, k);
  a_is_turned ? matrix(a_, input, m, k) : matrix(a_, input, k, m);
  matrix(c_, output_type(product), n, m);
}

void Blas::Plan::choose() {
  cublasLtMatmulPreference_t preference = nullptr;
  check_blas(functions_.preference_create(&preference), "a product");
  functions_.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                            sizeof workspace_bytes);
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  const cublasStatus_t status = functions_.heuristic(functions_.handle, operation_, b_, a_, c_, c_,
                                                     preference, 1, &result, &found);
  functions_.preference_destroy(preference);
  if (status != CUBLAS_STATUS_SUCCESS || found == 0) {
    throw DeviceError{
        fmt::format("cuBLASLt has no kernel for a product of {} {}, {} x {} x {}",
                    calibrate::profile::name(product_.precision),
                    calibrate::profile::name(product_.layout), product_.m, product_.n, product_.k),
        "fp8 needs sizes that are multiples of 16 and compute capability 8.9", ""};
  }
  algorithm_ = result.algo;
}

void Blas::Plan::run(const void* a, const void* b, void* c, cudaStream_t stream) const {
  const float alpha = 1, beta = product_.accumulates ? 1 : 0;
  check_blas(
      functions_.multiply(functions_.handle, operation_, &alpha, b, b_, a, a_, &beta, c, c_, c, c_,
                          &algorithm_, functions_.workspace->as(), workspace_bytes, stream),
      "a product");
}

Blas::Blas() : functions_(std::make_unique<Functions>()) {}
Blas::~Blas() { functions_->destroy(functions_->handle); }

std::shared_ptr<Blas::Plan> Blas::plan(const Product& product) const {
  auto plan = std::make_shared<Plan>(*functions_, product);
  plan->choose();
  return plan;
}

void Blas::run(const Plan& plan, const void* a, const void* b, void* c, cudaStream_t stream) const {
  plan.run(a, b, c, stream);
}

std::string Blas::version() const {
  const std::size_t number = functions_->version();
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

}  // namespace kernels::cuda
