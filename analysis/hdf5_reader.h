// Reading the files that Hdf5Image makes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/profile/hdf5_handle.h"

namespace analysis {

// Whatever is not there, or not as expected, throws std::runtime_error that names it.
class Hdf5Reader {
 public:
  // `format` is what the file must say it is.
  Hdf5Reader(const std::filesystem::path& file, const std::string& format);

  bool has(const std::string& name) const;
  void enter(const std::string& group);
  void leave();
  std::string text(const char* attribute) const;
  std::int64_t integer(const char* attribute) const;
  // Of at least `least` values, in these units.
  std::vector<double> numbers(const std::string& name, const char* units,
                              std::size_t least = 0) const;
  std::vector<std::int64_t> integers(const std::string& name, const char* units,
                                     std::size_t least = 0) const;
  std::vector<std::string> texts(const std::string& name) const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  calibrate::profile::Hdf5Dataset open(const std::string& name, const char* units,
                                       std::size_t& count) const;
  std::string text_of(hid_t object, const char* attribute) const;

  calibrate::profile::Hdf5Silence silence_;
  std::string name_;
  calibrate::profile::Hdf5File file_;
  std::vector<calibrate::profile::Hdf5Group> groups_;
};

}  // namespace analysis
