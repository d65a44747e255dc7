// The table that holds samples between measuring and fitting: op, shape, time, a row a sample.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "calibrate/profile/measurement.h"

namespace calibrate::measure {

// "gemm bf16 forward" and "4096 x 4096 x 4096"; "memory copy" and "1024 B"; "all_reduce" and
// "8 x 1024 B".
std::string op_text(const profile::MeasuredCase& one);
std::string shape_text(const profile::MeasuredCase& one);

class SampleWriter {
 public:
  // Throws std::runtime_error.
  explicit SampleWriter(const std::filesystem::path& file);
  // A line that begins with "# fact".
  void fact(const std::string& name, const std::string& value);
  // All samples of a case, on the disk when this returns.
  void write(const profile::MeasuredCase& one);

 private:
  std::filesystem::path file_;
  std::ofstream out_;
};

}  // namespace calibrate::measure
