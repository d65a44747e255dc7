// Writing tables of samples.
#include "calibrate/measure/sample_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace calibrate::measure {

std::string op_text(const profile::MeasuredCase& one) {
  return one.family == "collective" ? one.operation
                                    : fmt::format("{} {}", one.family, one.operation);
}

std::string shape_text(const profile::MeasuredCase& one) {
  const bool ends_in_bytes = one.family == "memory" || one.family == "collective" ||
                             one.family == "transfer" || one.family == "kernel";
  return fmt::format("{:.0f}{}", fmt::join(one.shape, " x "), ends_in_bytes ? " B" : "");
}

SampleWriter::SampleWriter(const std::filesystem::path& file) : file_(file), out_(file) {
  out_ << "op,shape,time [us]\n";
  if (!out_.flush()) throw std::runtime_error("cannot write " + file.string());
}

void SampleWriter::fact(const std::string& name, const std::string& value) {
  out_ << "# fact " << name << ": " << value << '\n';
}

void SampleWriter::write(const profile::MeasuredCase& one) {
  for (const double seconds : one.seconds) {
    out_ << fmt::format("{},{},{}\n", op_text(one), shape_text(one), 1e6 * seconds);
  }
  if (!out_.flush()) throw std::runtime_error("cannot write " + file_.string());
}

}  // namespace calibrate::measure
