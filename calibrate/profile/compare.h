// Which kernels and collectives of one profile are slower than in another, beyond noise.
#pragma once

#include <string>
#include <vector>

#include "calibrate/profile/measurement.h"

namespace calibrate::profile {

// One shape that both hold.
struct ShapeChange {
  MeasuredCase after;
  double ratio = 1;  // of the medians, after over before
  double noise = 0;  // one standard error of log ratio
  bool is_beyond_noise = false;
};

// All shapes of one operation.
struct OperationChange {
  std::string operation;                           // "gemm fp32 forward"
  std::size_t shapes = 0, slower = 0, faster = 0;  // beyond noise
  double ratio = 1;                                // median over shapes
  double noise = 0;                                // one standard error of log ratio
  bool is_slower = false, is_faster = false;       // beyond noise and by more than change_least
};

struct Comparison {
  std::vector<OperationChange> operations;
  std::vector<ShapeChange> shapes;  // beyond noise only, worst first
  std::size_t unmatched = 0;        // shapes that only one holds
  bool is_slower() const;
};

// What a person would call a change.
inline constexpr double change_least = 0.03;

// A sample's spread is that of its own case, at least the median one of its operation: a handful of
// samples may agree by chance. Beyond noise: more than four standard errors.
Comparison compare(const Measurement& before, const Measurement& after);

std::string describe(const Comparison& comparison);

}  // namespace calibrate::profile
