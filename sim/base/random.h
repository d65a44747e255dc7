// Random numbers without state: a draw depends on its key alone, never on the draws before it.
#pragma once

#include <array>
#include <cstdint>

namespace sim {

// Ten rounds of Philox 4x32: a counter and a key give four words.
// Source: Salmon, Moraes, Dror and Shaw, SC '11, section 3.3.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

// The x below which a share p of the standard normal distribution lies, to 16 digits.
// Worked: p = 0.975 -> 1.959964.
// REQUIRES: 0 < p < 1.
// Source: Wichura, Algorithm AS 241, Applied Statistics 37 (3), 1988, 477-484, PPND16.
double normal_quantile(double p);

// Whose draw it is; different keys have independent draws.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint32_t owner = 0, purpose = 0;
  std::uint64_t index = 0;
};
// Uniform in (0, 1).
double uniform(const DrawKey& key);
double standard_normal(const DrawKey& key);

// The mean of the largest of n independent standard normal draws, nearly.
// Worked: n = 8 -> 1.43, 128 -> 2.58, 1024 -> 3.23.
// REQUIRES: n >= 1.
// Source: Blom, Statistical Estimates and Transformed Beta-Variables, 1958, with alpha = 3/8.
double expected_normal_maximum(double n);

}  // namespace sim
