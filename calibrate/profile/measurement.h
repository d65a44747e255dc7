// What was measured, sample by sample, and where: the part of a profile that no fit has touched.
#pragma once

#include <string>
#include <vector>

namespace calibrate::profile {

inline constexpr int measurement_schema = 1;

struct Fact {
  std::string name, value;
};

// One shape. Families, operations and shapes:
//   gemm        precision and layout ("fp32 forward")     m, n, k
//   memory      the operator ("copy")                     bytes
//   collective  the kind ("all_reduce")                   ranks, bytes
//   attention   kernel and direction ("flash3 backward", "cudnn forward full")
//                                                         sequences, heads, kv heads, length, size
//                                                         of a head
//   sustained   as gemm, at full load for seconds         m, n, k
// Kept, and nothing is fitted to them:
//   grouped     as gemm, several groups of rows           groups, rows of all, n, k
//   overlap     a product beside copies                   m, n, k
//   kernel      an operator unlike those of memory        bytes
//   transfer    between host and device ("h2d pinned")    bytes
//   launch      of an empty kernel ("stream", "graph")    1
struct MeasuredCase {
  std::string family, operation;
  std::vector<double> shape;
  std::vector<double> seconds;  // of one execution, a value a batch, in the order of measuring
};

struct Measurement {
  std::vector<Fact> environment;
  std::vector<MeasuredCase> cases;
};

// "gemm fp32 forward 512 x 512 x 512", "collective all_reduce, 2 ranks, 1 MiB".
std::string describe(const MeasuredCase& one);

}  // namespace calibrate::profile
