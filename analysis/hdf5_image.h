// HDF5 files: made in memory, the same bytes every time, and read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/profile/hdf5_handle.h"

namespace analysis {

// Groups and datasets with units.
class Hdf5Image {
 public:
  explicit Hdf5Image(const std::string& format);

  void enter(const std::string& group);  // in the group entered last
  void leave();
  void attribute(const char* name, const std::string& text);
  void attribute(const char* name, std::int64_t number);
  void dataset(const std::string& name, const char* units, const std::vector<double>& values);
  void dataset(const std::string& name, const char* units, const std::vector<std::int64_t>& values);
  void dataset(const std::string& name, const std::vector<std::string>& texts);  // units "text"

  // The bytes of the file. REQUIRES: all groups left; nothing is added afterwards.
  std::string bytes();

 private:
  void write(const std::string& name, const char* units, hid_t stored, hid_t native,
             std::size_t count, const void* data);

  calibrate::profile::Hdf5Silence silence_;
  calibrate::profile::Hdf5File file_;
  std::vector<calibrate::profile::Hdf5Group> groups_;
};

// Reads what an Hdf5Image made. Whatever is not there, or not as expected, throws
// std::runtime_error that names it.
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
