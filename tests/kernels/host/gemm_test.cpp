// Products of OpenBLAS against three loops, and the loops against a product by hand.
#include "kernels/host/gemm.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "calibrate/profile/roofline.h"

using calibrate::profile::Layout;
using namespace kernels::host;

namespace {

std::vector<float> values(std::size_t count, int seed) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = static_cast<float>(std::sin(static_cast<double>(i) * 12.9898 + seed));
  }
  return all;
}

}  // namespace

TEST_CASE("gemm: 2 x 2 of three products by hand, in every layout") {
  // [1 2 3; 4 5 6] times [1 0; 0 1; 1 1] = [4 5; 10 11].
  const std::vector<float> left{1, 2, 3, 4, 5, 6}, right{1, 0, 0, 1, 1, 1};
  const std::vector<float> left_turned{1, 4, 2, 5, 3, 6}, right_turned{1, 0, 1, 0, 1, 1};
  const std::vector<float> expected{4, 5, 10, 11};
  for (const bool is_plain : {false, true}) {
    std::vector<float> c(4, 7);
    const auto check = [&](Layout layout, const std::vector<float>& a,
                           const std::vector<float>& b) {
      GemmCall call{layout, 2, 2, 3, false, a.data(), b.data(), c.data()};
      is_plain ? plain_gemm(call) : gemm(call);
      CHECK(c == expected);
      call.accumulates = true;  // a second time: doubled
      is_plain ? plain_gemm(call) : gemm(call);
      CHECK(c == std::vector<float>{8, 10, 20, 22});
    };
    check(Layout::forward, left, right_turned);
    check(Layout::input_gradient, left, right);
    check(Layout::weight_gradient, left_turned, right);
  }
}

TEST_CASE("gemm: odd shapes agree with the plain product") {
  use_threads(1);
  for (const Layout layout : {Layout::forward, Layout::input_gradient, Layout::weight_gradient}) {
    for (const auto& [m, n, k] : {std::array{1, 1, 1}, std::array{7, 65, 33},
                                  std::array{128, 3, 257}, std::array{63, 129, 200}}) {
      for (const bool accumulates : {false, true}) {
        const auto a = values(static_cast<std::size_t>(m * k), 1),
                   b = values(static_cast<std::size_t>(k * n), 2);
        auto fast = values(static_cast<std::size_t>(m * n), 3), plain = fast;
        gemm({layout, m, n, k, accumulates, a.data(), b.data(), fast.data()});
        plain_gemm({layout, m, n, k, accumulates, a.data(), b.data(), plain.data()});
        double worst = 0;
        for (std::size_t i = 0; i < fast.size(); ++i) {
          worst = std::max(worst, std::abs(static_cast<double>(fast[i]) - plain[i]));
        }
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        CHECK(worst < 1e-6 * k + 1e-6);  // fp32: k roundings of numbers of at most 1
      }
    }
  }
}

TEST_CASE("gemm: FLOPs and bytes of 2 x 3 x 4 in fp32 -> 48, 104") {
  // 2 * 2 * 3 * 4; 4 bytes of 8 + 12 inputs and 6 outputs. Accumulating reads the outputs too.
  calibrate::profile::GemmQuestion question{.m = 2, .n = 3, .k = 4};
  question.precision = calibrate::profile::Precision::fp32;
  CHECK(calibrate::profile::gemm_flops(question) == 48);
  CHECK(calibrate::profile::gemm_bytes(question) == 104);
  question.accumulates_fp32 = true;
  CHECK(calibrate::profile::gemm_bytes(question) == 128);
}
