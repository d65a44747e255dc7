// Time of the products of a mixture of experts: each of several groups of rows with a matrix of its
// own.
//
// For `groups` groups with m = rows / groups rows each, n x k matrices:
//   padded = 64 ceil(m / 64)
//   math   = 2 groups padded n k / (P compute)
//   mem    = e (groups n k + rows (n + k)) / (B memory)
//   T      = launch + group groups + cuberoot(math^3 + mem^3)
// What is measured is a whole block of two products, gate and up (n = 2 i, k = h) and down (n = h,
// k = i), with what moves rows around them, which passes over the rows of all experts, here or not:
//   T_block = block + move e ((tokens + all_rows) h + 3 all_rows i) / B + both products
// A template, so that the fit can differentiate it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace calibrate::profile {

struct GroupedShape {
  double groups = 1, rows = 0, n = 0, k = 0;
  double imbalance = 1;  // rows of the largest group against the mean
  double flops() const { return 2 * rows * n * k; }
};

// Gate, up and down products of the experts of one rank, forward.
struct ExpertBlock {
  double tokens = 0, all_rows = 0;  // all_rows: of experts on other ranks, too
  double rows = 0, groups = 1, hidden = 0, inner = 0;
  double flops() const { return 6 * rows * hidden * inner; }
};

struct GroupedHardware {
  double peak = 0;         // [FLOP/s]
  double memory_rate = 0;  // [byte/s]
  double element = 2;      // [byte]
  double launch = 0;       // [s] of one product
};

template <class T>
struct GroupedTile {
  T block{};    // [s] of what stands around the products, for each block
  T group{};    // [s] for each group of each product
  T move{};     // reads and writes of rows around the products, against the memory rate
  T compute{};  // share of peak
  T memory{};   // share of the memory rate
};

// Rows of all groups, each filled up to whole tiles of 64. Of unequal groups the largest and the
// rest are filled up apart.
inline double padded_rows(const GroupedShape& shape) {
  constexpr double tile = 64;
  const double mean = shape.rows / shape.groups;
  const double largest = std::min(shape.rows, mean * shape.imbalance);
  const double others = std::max(shape.groups - 1, 1.0);
  const double rest = (shape.rows - largest) / others;
  return tile * (std::ceil(largest / tile) + (shape.groups - 1) * std::ceil(rest / tile));
}

// Without launch and groups.
template <class T>
T product_time(const GroupedTile<T>& p, const GroupedHardware& hardware,
               const GroupedShape& shape) {
  using std::cbrt;
  const T math = 2 * padded_rows(shape) * shape.n * shape.k / (hardware.peak * p.compute);
  const double bytes =
      hardware.element * (shape.groups * shape.n * shape.k + shape.rows * (shape.n + shape.k));
  const T memory = bytes / (hardware.memory_rate * p.memory);
  return cbrt(math * math * math + memory * memory * memory);
}

template <class T>
T grouped_time(const GroupedTile<T>& p, const GroupedHardware& hardware,
               const GroupedShape& shape) {
  return hardware.launch + p.group * shape.groups + product_time(p, hardware, shape);
}

template <class T>
T block_time(const GroupedTile<T>& p, const GroupedHardware& hardware, const ExpertBlock& block) {
  const GroupedShape in{block.groups, block.rows, 2 * block.inner, block.hidden};
  const GroupedShape out{block.groups, block.rows, block.hidden, block.inner};
  const double moved = hardware.element * ((block.tokens + block.all_rows) * block.hidden +
                                           3 * block.all_rows * block.inner);
  return p.block + p.move * moved / hardware.memory_rate + grouped_time(p, hardware, in) +
         grouped_time(p, hardware, out);
}

// What the smooth correction sees: rows of a group, groups, elements of a matrix. Of a block, the
// mean of its two matrices.
inline std::array<double, 3> grouped_features(const GroupedShape& shape) {
  return {std::log(shape.rows / shape.groups), std::log(shape.groups), std::log(shape.n * shape.k)};
}
inline std::array<double, 3> grouped_features(const ExpertBlock& block) {
  return {std::log(block.rows / block.groups), std::log(block.groups),
          std::log(1.5 * block.hidden * block.inner)};
}

}  // namespace calibrate::profile
