// Two predictions against each other: which is better, how sure that is, and where they break even.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "sim/training/result.h"

namespace analysis {

// A prediction that is in proportion to an iteration time, and what its error consists of.
struct Uncertain {
  double value = 0;         // any unit, the same on both sides; less is better
  double jitter = 0;        // one sigma of repeats, relative
  std::string device_type;  // whose timing models; empty: they are exact
  std::array<double, sim::training::error_family_count> families{};  // one sigma each, relative
  double software = 0;                                               // one sigma, relative
  std::string stack = {};                                            // whose constants
};
Uncertain uncertain(double value, const sim::training::Interval& interval);

// The probability that `a` is less than `b`, from normal errors, linear in the sigmas:
//   Phi((b - a) / sigma),   sigma^2 = (a jitter_a)^2 + (b jitter_b)^2 + sum over families
//     (a s_a - b s_b)^2   on devices of one type, whose timing models err alike
//     (a s_a)^2 + (b s_b)^2   otherwise
//   and the same of the errors of software stacks, where both have one.
// Worked: 100 and 103, both with 3 % of gemm and jitter 1 %: on one device type sigma^2 =
// 1^2 + 1.03^2 + 0.09^2, Phi(2.086) = 98.1 %; on two, sigma^2 = 2.0609 + 3^2 + 3.09^2, Phi(0.6608)
// = 74.6 %. Without any error it is 1, 0, or 1/2 where both are equal.
double probability_less(const Uncertain& a, const Uncertain& b);

// The factor from `least` to `most` at which `time` comes down to `wanted`, to a part in 1,000.
// `time` only falls or only rises with the factor, and gives nothing where it cannot be run.
// Returns nothing where no factor there does it. Worked: 1 + 8 / factor = 2 at a factor of 8.
// REQUIRES: 0 < least < most.
std::optional<double> break_even(const std::function<std::optional<double>(double)>& time,
                                 double wanted, double least, double most);

}  // namespace analysis
