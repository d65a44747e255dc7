// Operators bound by memory, launches, transfers and overlap on a GPU.
#include "calibrate/measure/cuda_operators.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <tuple>

#include "calibrate/profile/roofline.h"
#include "kernels/cuda/pointwise.h"

namespace calibrate::measure {
namespace {

namespace cuda = kernels::cuda;
using cuda::Bf16;

constexpr std::size_t elements_least = std::size_t{1} << 14, elements_most = std::size_t{1} << 28;
// Rows of a hidden state, of a head, of logits.
constexpr std::size_t width = 4096, head_size = 128, vocabulary = 32768;
constexpr int copy_blocks = 4096;

struct Operator {
  const char* name;
  double bytes_of_element;
  std::size_t elements_fewest;
  std::function<void(DeviceArena&, std::size_t elements, cudaStream_t)> launch;
};

Bf16* read(DeviceArena& arena, std::size_t elements) {
  return static_cast<Bf16*>(arena.input(elements * sizeof(Bf16)));
}
Bf16* written(DeviceArena& arena, std::size_t elements) {
  return static_cast<Bf16*>(arena.output(elements * sizeof(Bf16)));
}
float* wide(DeviceArena& arena, std::size_t elements) {
  return static_cast<float*>(arena.output(elements * sizeof(float)));
}

// Indices below `limit`, the same every time.
std::shared_ptr<cuda::Buffer> indices(std::size_t count, std::uint32_t limit) {
  std::vector<int> all(count);
  std::uint32_t state = 1;
  for (int& one : all) {
    state = state * 1664525U + 1013904223U;
    one = static_cast<int>((state >> 8U) % limit);
  }
  auto buffer = std::make_shared<cuda::Buffer>(count * sizeof(int));
  cuda::check(cudaMemcpy(buffer->as(), all.data(), buffer->size(), cudaMemcpyHostToDevice),
              "a copy");
  return buffer;
}

std::vector<Operator> row_operators() {
  const auto targets = indices(elements_most / vocabulary, vocabulary);
  const auto tokens = indices(elements_most / width, vocabulary / 8);
  const auto losses = std::make_shared<cuda::Buffer>(elements_most / vocabulary * sizeof(float));
  return {
      {"rms norm", cuda::rms_norm_bytes, width,
       [](DeviceArena& a, std::size_t n, cudaStream_t s) {
         cuda::rms_norm({n / width, width}, read(a, n), read(a, width), written(a, n), s);
       }},
      {"layer norm", cuda::layer_norm_bytes, width,
       [](DeviceArena& a, std::size_t n, cudaStream_t s) {
         cuda::layer_norm({n / width, width}, read(a, n), read(a, width), read(a, width),
                          written(a, n), s);
       }},
      {"rotary", cuda::rotary_bytes, width,
       [](DeviceArena& a, std::size_t n, cudaStream_t s) {
         const auto* angles = static_cast<float*>(a.input(head_size * sizeof(float)));
         cuda::rotary({n / head_size, head_size}, angles, angles + head_size / 2, written(a, n), s);
       }},
      {"cross entropy", cuda::cross_entropy_bytes, vocabulary,
       [targets, losses](DeviceArena& a, std::size_t n, cudaStream_t s) {
         cuda::cross_entropy({n / vocabulary, vocabulary}, targets->as<int>(), written(a, n),
                             losses->as<float>(), s);
       }},
      {"embedding gather", cuda::gather_bytes, width,
       [tokens](DeviceArena& a, std::size_t n, cudaStream_t s) {
         cuda::gather({n / width, width}, tokens->as<int>(), read(a, vocabulary / 8 * width),
                      written(a, n), s);
       }}};
}

std::vector<Operator> element_operators() {
  return {{"copy", cuda::copy_bytes, 8,
           [](DeviceArena& a, std::size_t n, cudaStream_t s) {
             cuda::stream_copy(read(a, n), written(a, n), n * sizeof(Bf16), copy_blocks, s);
           }},
          {"residual", cuda::residual_bytes, 8,
           [](DeviceArena& a, std::size_t n, cudaStream_t s) {
             cuda::residual(n, read(a, n), written(a, n), s);
           }},
          {"swiglu", cuda::swiglu_bytes, 8,
           [](DeviceArena& a, std::size_t n, cudaStream_t s) {
             cuda::swiglu(n, read(a, n), read(a, n), written(a, n), s);
           }},
          {"gelu", cuda::gelu_bytes, 8,
           [](DeviceArena& a, std::size_t n, cudaStream_t s) {
             cuda::gelu(n, read(a, n), written(a, n), s);
           }},
          {"cast", cuda::cast_bytes, 8,
           [](DeviceArena& a, std::size_t n, cudaStream_t s) {
             cuda::cast(n, static_cast<float*>(a.input(n * sizeof(float))), written(a, n), s);
           }},
          {"quantise", cuda::quantise_bytes, 8,
           [](DeviceArena& a, std::size_t n, cudaStream_t s) {
             cuda::quantise(n, read(a, n), 0.5F, static_cast<cuda::Fp8*>(a.output(n)), s);
           }},
          {"adam", cuda::adam_bytes, 8, [](DeviceArena& a, std::size_t n, cudaStream_t s) {
             cuda::adam({}, n, static_cast<float*>(a.input(n * sizeof(float))), wide(a, n),
                        wide(a, n), wide(a, n), written(a, n), s);
           }}};
}

void add_sizes(std::vector<CudaCase>& cases, DeviceArena& arena, const Operator& one,
               const char* family) {
  constexpr std::size_t element_most = sizeof(float);
  for (std::size_t n = elements_least; n <= elements_most; n *= 4) {
    if (n < one.elements_fewest || n * element_most > arena.bytes_most()) continue;
    const double bytes = one.bytes_of_element * static_cast<double>(n);
    cases.push_back({{family, one.name, {bytes}, {}},
                     [&arena, n, launch = one.launch](cudaStream_t s) { launch(arena, n, s); },
                     bytes});
  }
}

void add_transfers(std::vector<CudaCase>& cases, DeviceArena& arena) {
  constexpr std::size_t most = std::size_t{1} << 28;
  const auto host = std::make_shared<cuda::PinnedBuffer>(most);
  for (std::size_t bytes = std::size_t{1} << 12; bytes <= most; bytes *= 16) {
    const auto size = static_cast<double>(bytes);
    cases.push_back({{"transfer", "h2d pinned", {size}, {}},
                     [host, bytes, &arena](cudaStream_t s) {
                       cuda::check(cudaMemcpyAsync(arena.output(bytes), host->get(), bytes,
                                                   cudaMemcpyHostToDevice, s),
                                   "a transfer");
                     },
                     size});
    cases.push_back({{"transfer", "d2h pinned", {size}, {}},
                     [host, bytes, &arena](cudaStream_t s) {
                       cuda::check(cudaMemcpyAsync(host->get(), arena.input(bytes), bytes,
                                                   cudaMemcpyDeviceToHost, s),
                                   "a transfer");
                     },
                     size});
  }
}

void add_grouped(std::vector<CudaCase>& cases, DeviceArena& arena,
                 std::vector<std::string>& left_out) {
  std::shared_ptr<cuda::GroupedBlas> blas;
  try {
    blas = std::make_shared<cuda::GroupedBlas>();
  } catch (const cuda::DeviceError& error) {
    left_out.push_back("grouped products: " + error.message);
    return;
  }
  for (const auto& [groups, rows, n, k] :
       {std::tuple{8, 128, 14336, 4096}, std::tuple{8, 1024, 14336, 4096},
        std::tuple{8, 4096, 14336, 4096}, std::tuple{8, 1024, 4096, 14336},
        std::tuple{32, 64, 2048, 7168}, std::tuple{32, 512, 2048, 7168},
        std::tuple{32, 512, 7168, 2048}, std::tuple{64, 256, 1408, 2048}}) {
    const auto product = std::make_shared<cuda::GroupedProduct>();
    product->rows.assign(static_cast<std::size_t>(groups), rows);
    product->n = n;
    product->k = k;
    const auto count = static_cast<std::size_t>(groups),
               all = count * static_cast<std::size_t>(rows);
    const std::size_t a = 2 * all * static_cast<std::size_t>(k),
                      b = 2 * count * static_cast<std::size_t>(n) * static_cast<std::size_t>(k),
                      c = 2 * all * static_cast<std::size_t>(n);
    if (std::max({a, b, c}) > arena.bytes_most()) continue;
    const auto pointers = std::make_shared<cuda::Buffer>(3 * count * sizeof(void*));
    blas->prepare(*product, arena.input(a), arena.input(b), arena.output(c), pointers->as<void*>());
    cases.push_back({{"grouped",
                      "bf16 forward",
                      {static_cast<double>(groups), static_cast<double>(groups) * rows,
                       static_cast<double>(n), static_cast<double>(k)},
                      {}},
                     [=](cudaStream_t s) { blas->run(*product, pointers->as<void*>(), s); },
                     profile::grouped_bytes(product->question()),
                     false});
  }
}

// The same product alone and while copies hold some multiprocessors and the memory: what overlap
// costs. The copies begin before the product and last longer.
void add_overlap(std::vector<CudaCase>& cases, const cuda::DeviceFacts& facts, DeviceArena& arena,
                 const cuda::Blas& blas) {
  const cuda::Product product{.m = 8192, .n = 8192, .k = 8192};
  constexpr std::size_t copied = std::size_t{1} << 28;
  if (std::max(copied, product.a_bytes()) > arena.bytes_most()) return;
  const auto plan = blas.plan(product);
  const auto beside = std::make_shared<cuda::Stream>();
  for (const int blocks : {0, 8, 16, facts.multiprocessors / 4}) {
    cases.push_back({{"overlap",
                      fmt::format("bf16 forward under copies on {} blocks", blocks),
                      {static_cast<double>(product.m), static_cast<double>(product.n),
                       static_cast<double>(product.k)},
                      {}},
                     [=, &arena, &blas](cudaStream_t s) {
                       if (blocks > 0 && cudaStreamQuery(beside->get()) == cudaSuccess) {
                         constexpr int ahead = 16;
                         for (int i = 0; i < ahead; ++i) {
                           cuda::stream_copy(arena.input(copied), arena.output(copied), copied,
                                             blocks, beside->get());
                         }
                       }
                       blas.run(*plan, arena.input(product.a_bytes()),
                                arena.input(product.b_bytes()), arena.output(product.c_bytes()), s);
                     },
                     profile::gemm_bytes(product.question()),
                     false});
  }
}

}  // namespace

std::vector<CudaCase> memory_cases(DeviceArena& arena) {
  std::vector<CudaCase> cases;
  for (const auto& operators : {element_operators(), row_operators()}) {
    for (const Operator& one : operators) add_sizes(cases, arena, one, "memory");
  }
  return cases;
}

std::vector<CudaCase> other_cases(const cuda::DeviceFacts& facts, DeviceArena& arena,
                                  const cuda::Blas& blas, std::vector<std::string>& left_out) {
  std::vector<CudaCase> cases;
  const auto tokens = indices(elements_most / width, vocabulary / 8);
  add_sizes(cases, arena,
            {"embedding scatter", cuda::scatter_bytes, width,
             [tokens](DeviceArena& a, std::size_t n, cudaStream_t s) {
               cuda::scatter_add({n / width, width}, tokens->as<int>(), read(a, n),
                                 wide(a, vocabulary / 8 * width), s);
             }},
            "kernel");
  cases.push_back({{"launch", "stream", {1}, {}}, cuda::empty, 0, false});
  cases.push_back({{"launch", "graph", {1}, {}}, cuda::empty, 0, true});
  add_transfers(cases, arena);
  add_grouped(cases, arena, left_out);
  add_overlap(cases, facts, arena, blas);
  return cases;
}

}  // namespace calibrate::measure
