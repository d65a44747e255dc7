// How all fits are solved.
#pragma once

#include <ceres/ceres.h>

namespace calibrate::profile {

// Few parameters; sums in one order, so that every run gives the same bits.
inline ceres::Solver::Options solver_options() {
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.num_threads = 1;
  options.logging_type = ceres::SILENT;
  return options;
}

}  // namespace calibrate::profile
