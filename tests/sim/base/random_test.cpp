// Draws against published vectors and the moments of their distribution.
#include "sim/base/random.h"

#include <cmath>
#include <vector>

#include "tests/approximately.h"

using namespace sim;

TEST_CASE("random: Philox 4x32-10 -> the words published with it") {
  // Source: Random123, tests/kat_vectors, lines "philox4x32 10".
  CHECK(philox({0, 0, 0, 0}, {0, 0}) ==
        std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random: quantiles -> the inverse of the distribution, from end to end") {
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.975) == approximately(1.959963984540054));
  CHECK(normal_quantile(1e-20) == approximately(-9.262340089798408));
  for (double x = -8; x <= 4; x += 0.125) {
    CAPTURE(x);
    const double below = std::erfc(-x / std::sqrt(2.0)) / 2;
    CHECK(std::abs(normal_quantile(below) - x) < 1e-11);
  }
}

TEST_CASE("random: 100,000 draws -> mean 0, deviation 1, skewness 0, kurtosis 3, one and all") {
  // Four standard errors: 4/sqrt(n), 4/sqrt(2n), 4 sqrt(6/n), 4 sqrt(24/n).
  constexpr int n = 100'000;
  const double error = 4 / std::sqrt(static_cast<double>(n));
  for (const std::uint32_t owner : {0U, 1U, 511U}) {
    CAPTURE(owner);
    double sum = 0, squares = 0, cubes = 0, fourth = 0, neighbours = 0, before = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const double z = standard_normal({1, owner, 0, i});
      sum += z;
      squares += z * z;
      cubes += z * z * z;
      fourth += z * z * z * z;
      neighbours += z * before;
      before = z;
    }
    CHECK(std::abs(sum / n) < error);
    CHECK(std::abs(std::sqrt(squares / n) - 1) < error / std::sqrt(2.0));
    CHECK(std::abs(cubes / n) < error * std::sqrt(15.0));
    CHECK(std::abs(fourth / n - 3) < error * std::sqrt(96.0));
    CHECK(std::abs(neighbours / n) < error);
  }
}

TEST_CASE("random: any part of the key gives another draw, the order of draws does not") {
  const DrawKey key{1, 2, 3, 4};
  const double draw = standard_normal(key);
  std::vector<double> others = {standard_normal({2, 2, 3, 4}),
                                standard_normal({1, 3, 3, 4}),
                                standard_normal({1, 2, 4, 4}),
                                standard_normal({1, 2, 3, 5}),
                                standard_normal({1ULL << 40 | 1, 2, 3, 4}),
                                standard_normal({1, 2, 3, 1ULL << 40 | 4})};
  for (const double other : others) CHECK(other != draw);
  CHECK(standard_normal(key) == draw);
}

TEST_CASE("random: expected largest of 8, 128, 1024, 16384 -> 1.43, 2.6, 3.2, 4.0") {
  CHECK(expected_normal_maximum(1) == 0);
  CHECK(std::abs(expected_normal_maximum(8) - 1.43) < 0.01);
  CHECK(std::abs(expected_normal_maximum(128) - 2.58) < 0.01);
  CHECK(std::abs(expected_normal_maximum(1024) - 3.23) < 0.01);
  for (const auto& [n, expected] :
       {std::pair{8.0, 1.43}, {128.0, 2.6}, {1024.0, 3.2}, {16384.0, 4.0}}) {
    CAPTURE(n);
    CHECK(std::abs(expected_normal_maximum(n) - expected) < 0.05);
  }
}
