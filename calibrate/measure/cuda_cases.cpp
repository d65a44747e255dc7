// The shapes that are measured on a GPU.
#include "calibrate/measure/cuda_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <tuple>

#include "calibrate/measure/cuda_operators.h"
#include "calibrate/profile/names.h"
#include "calibrate/profile/roofline.h"
#include "kernels/cuda/pointwise.h"
#include "sim/base/invariant.h"

namespace calibrate::measure {
namespace {

using kernels::cuda::Blas;
using kernels::cuda::DeviceError;
using kernels::cuda::Product;
using profile::Layout;
using profile::Precision;

constexpr std::size_t shapes_of_a_layout = 128, shapes_of_a_rare_type = 24;
constexpr double tokens_least = 128, tokens_most = 16384, width_least = 256, width_most = 28672;
constexpr double flops_most = 2e13;  // some 30 ms
constexpr std::size_t alignment = 256;

// Point `index` of the Halton sequence in base 2, 3 or 5.
double scattered(std::size_t index, std::size_t dimension) {
  constexpr std::array<std::size_t, 3> bases{2, 3, 5};
  double result = 0, part = 1;
  for (std::size_t rest = index + 1; rest > 0; rest /= bases.at(dimension)) {
    part /= static_cast<double>(bases.at(dimension));
    result += part * static_cast<double>(rest % bases.at(dimension));
  }
  return result;
}

int size_of(std::size_t index, std::size_t dimension, int step) {
  const double least = dimension == 0 ? tokens_least : width_least,
               most = dimension == 0 ? tokens_most : width_most;
  const double size = least * std::pow(most / least, scattered(index, dimension));
  // Every fourth shape is off the lattice that kernels are made for.
  const int odd = index % 4 == 3 && dimension == 0 ? 8 : 0;
  const int lattice = std::max(step, size < 1024 ? 64 : 128);
  return std::max(1, static_cast<int>(size) / lattice) * lattice + (step > 8 ? 0 : odd);
}

class Builder {
 public:
  Builder(DeviceArena& arena, const Blas& blas, std::vector<std::string>& left_out)
      : arena_(arena), blas_(blas), left_out_(left_out) {}

  void add(CudaPhase& phase, const Product& product) {
    const std::string operation =
        fmt::format("{} {}", profile::name(product.precision), profile::name(product.layout));
    const std::size_t a = product.a_bytes(), b = product.b_bytes(), c = product.c_bytes();
    if (std::max({a, b, c}) > arena_.bytes_most()) return;
    try {
      std::shared_ptr<Blas::Plan> plan = blas_.plan(product);
      phase.cases.push_back(
          {{"gemm",
            operation,
            {static_cast<double>(product.m), static_cast<double>(product.n),
             static_cast<double>(product.k)},
            {}},
           [plan, a, b, c, this_blas = &blas_, arena = &arena_](cudaStream_t stream) {
             this_blas->run(*plan, arena->input(a), arena->input(b), arena->output(c), stream);
           },
           profile::gemm_bytes(product.question())});
    } catch (const DeviceError& error) {
      left_out_.push_back(error.message);
    }
  }

  // `step`: what sizes are multiples of.
  void add_layout(CudaPhase& phase, Precision precision, Layout layout, std::size_t count,
                  int step) {
    const bool accumulates = layout == Layout::weight_gradient;
    const std::size_t first = 1000 * static_cast<std::size_t>(layout);
    std::size_t taken = 0;
    for (std::size_t i = first; taken < count; ++i) {
      const Product product{precision,           layout,
                            size_of(i, 0, step), size_of(i, 1, step),
                            size_of(i, 2, step), accumulates};
      if (profile::gemm_flops(product.question()) > flops_most) continue;
      add(phase, product);
      ++taken;
    }
  }

 private:
  DeviceArena& arena_;
  const Blas& blas_;
  std::vector<std::string>& left_out_;
};

std::vector<Product> anchors(Precision precision) {
  std::vector<Product> all;
  for (const auto& [m, n, k] :
       {std::tuple{4096, 4096, 4096}, std::tuple{8192, 4096, 4096}, std::tuple{8192, 6144, 4096},
        std::tuple{8192, 8192, 8192}, std::tuple{8192, 28672, 4096}, std::tuple{8192, 4096, 14336},
        std::tuple{16384, 8192, 8192}, std::tuple{16384, 10240, 8192},
        std::tuple{16384, 28672, 8192}, std::tuple{16384, 8192, 28672},
        std::tuple{4096, 16384, 12288}, std::tuple{2048, 12288, 12288}}) {
    all.push_back({precision, Layout::forward, m, n, k, false});
  }
  return all;
}

bool has_fp8(const kernels::cuda::DeviceFacts& facts) {
  return 10 * facts.major + facts.minor >= 89;
}

}  // namespace

DeviceArena::DeviceArena(std::size_t bytes, bool is_warm)
    : inputs_(bytes), outputs_(bytes), is_warm_(is_warm) {
  kernels::cuda::fill(inputs_.as(), bytes, nullptr);
  kernels::cuda::fill(outputs_.as(), bytes, nullptr);
  kernels::cuda::check(cudaDeviceSynchronize(), "filling memory");
}

void* DeviceArena::take(const kernels::cuda::Buffer& ring, std::size_t& next,
                        std::size_t bytes) const {
  sim::invariant(bytes <= ring.size(), "an operand fits into the arena");
  if (is_warm_ || next + bytes > ring.size()) next = 0;
  auto* start = ring.as<std::byte>() + next;
  next += (bytes + alignment - 1) / alignment * alignment;
  return start;
}

std::vector<Product> sustained_products(const kernels::cuda::DeviceFacts& facts) {
  std::vector<Product> all = anchors(Precision::bf16);
  if (has_fp8(facts)) {
    for (const Product& product : anchors(Precision::fp8)) all.push_back(product);
  }
  return all;
}

std::vector<CudaPhase> cuda_phases(const kernels::cuda::DeviceFacts& facts, DeviceArena& arena,
                                   const Blas& blas, std::vector<std::string>& left_out) {
  Builder builder(arena, blas, left_out);
  constexpr int half_step = 8, byte_step = 16;
  constexpr std::array layouts{Layout::forward, Layout::input_gradient, Layout::weight_gradient};
  CudaPhase products{"products", 0.4, {}}, narrow{"fp8 products", 0.2, {}};
  for (const Product& product : anchors(Precision::bf16)) builder.add(products, product);
  for (const Layout layout : layouts) {
    builder.add_layout(products, Precision::bf16, layout, shapes_of_a_layout, half_step);
  }
  for (const Precision precision : {Precision::fp16, Precision::tf32, Precision::fp32}) {
    builder.add_layout(products, precision, Layout::forward, shapes_of_a_rare_type, half_step);
  }
  if (has_fp8(facts)) {
    for (const Product& product : anchors(Precision::fp8)) builder.add(narrow, product);
    for (const Layout layout : layouts) {
      builder.add_layout(narrow, Precision::fp8, layout, shapes_of_a_layout, byte_step);
    }
  } else {
    left_out.emplace_back("fp8: the device has no such units");
  }
  std::vector<CudaPhase> phases;
  phases.push_back(std::move(products));
  if (!narrow.cases.empty()) phases.push_back(std::move(narrow));
  phases.push_back({"memory", 0.1, memory_cases(arena)});
  phases.push_back(
      {"launches, transfers and overlap", 0.1, other_cases(facts, arena, blas, left_out)});
  return phases;
}

}  // namespace calibrate::measure
