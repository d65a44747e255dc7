// Philox, and the normal distribution's quantiles as ratios of polynomials.
#include "sim/base/random.h"

#include <cmath>

#include "sim/base/invariant.h"

namespace sim {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

namespace {

// Coefficients of r^0, r^1, ...
using Polynomial = std::array<double, 8>;

double value(const Polynomial& p, double r) {
  double sum = 0;
  for (auto c = p.rbegin(); c != p.rend(); ++c) sum = sum * r + *c;
  return sum;
}

constexpr Polynomial middle_above = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                     1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                     4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                     3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr Polynomial middle_below = {1,
                                     4.2313330701600911252e+1,
                                     6.8718700749205790830e+2,
                                     5.3941960214247511077e+3,
                                     2.1213794301586595867e+4,
                                     3.9307895800092710610e+4,
                                     2.8729085735721942674e+4,
                                     5.2264952788528545610e+3};
constexpr Polynomial outer_above = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                    5.76949722146069140550e0,  3.64784832476320460504e0,
                                    1.27045825245236838258e0,  2.41780725177450611770e-1,
                                    2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr Polynomial outer_below = {1,
                                    2.05319162663775882187e0,
                                    1.67638483018380384940e0,
                                    6.89767334985100004550e-1,
                                    1.48103976427480074590e-1,
                                    1.51986665636164571966e-2,
                                    5.47593808499534494600e-4,
                                    1.05075007164441684324e-9};
constexpr Polynomial far_above = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                  1.78482653991729133580e0,  2.96560571828504891230e-1,
                                  2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr Polynomial far_below = {1,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};

}  // namespace

double normal_quantile(double p) {
  invariant(p > 0 && p < 1, "a share of a distribution is not between 0 and 1");
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * value(middle_above, r) / value(middle_below, r);
  }
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  const double x = r <= 5 ? value(outer_above, r - 1.6) / value(outer_below, r - 1.6)
                          : value(far_above, r - 5) / value(far_below, r - 5);
  return q < 0 ? -x : x;
}

double uniform(const DrawKey& key) {
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  const auto words = philox({low(key.index), high(key.index), key.owner, key.purpose},
                            {low(key.seed), high(key.seed)});
  const std::uint64_t bits = std::uint64_t{words[1]} << 32 | words[0];
  // The middle of one of 2^52 equal parts of (0, 1), which a double holds exactly.
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

double standard_normal(const DrawKey& key) { return normal_quantile(uniform(key)); }

double expected_normal_maximum(double n) {
  invariant(n >= 1, "the largest of no draws");
  return normal_quantile((n - 0.375) / (n + 0.25));
}

}  // namespace sim
