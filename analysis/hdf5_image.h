// An HDF5 file made in memory: groups and datasets with units, the same bytes every time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/profile/hdf5_handle.h"

namespace analysis {

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

}  // namespace analysis
