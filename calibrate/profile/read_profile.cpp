// Reading a profile: seal verified, then HDF5 opened on the bytes in memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <system_error>

#include "calibrate/profile/archive.h"
#include "calibrate/profile/hdf5_handle.h"
#include "calibrate/profile/seal.h"
#include "sim/base/read_stream.h"

namespace calibrate::profile {
namespace {

constexpr std::size_t numbers_most = 1 << 20, list_most = 10'000, text_most = 1 << 16;

class Reader final : public Archive {
 public:
  // The image follows the seal.
  Reader(const std::string& file, std::vector<std::byte> image)
      : file_name_(file), image_(std::move(image)) {
    const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fapl_core(access, 1 << 16, false);
    H5Pset_file_image(access, image_.data() + seal_size, image_.size() - seal_size);
    file_ = Hdf5File(H5Fopen("profile", H5F_ACC_RDONLY, access));
    if (!file_.is_open()) fail("its contents are not HDF5");
    groups_.emplace_back(H5Gopen2(file_, "/", H5P_DEFAULT));
  }

  void enter(const std::string& group) override {
    path_.push_back(group);
    if (H5Lexists(groups_.back(), group.c_str(), H5P_DEFAULT) <= 0) fail("it has no " + place());
    groups_.emplace_back(H5Gopen2(groups_.back(), group.c_str(), H5P_DEFAULT));
    if (!groups_.back().is_open()) fail(place() + " is not a group");
  }
  void leave() override {
    groups_.pop_back();
    path_.pop_back();
  }

  void number(const char* name, const char* units, double& value) override {
    const Hdf5Dataset set = dataset(name, units);
    if (points(set) != 1) fail(place(name) + " is not one number");
    read(set, name, &value);
  }
  void numbers(const char* name, const char* units, std::vector<double>& values) override {
    const Hdf5Dataset set = dataset(name, units);
    const std::size_t count = points(set);
    if (count > numbers_most) fail(fmt::format("{} has {} numbers", place(name), count));
    values.resize(count);
    if (count > 0) read(set, name, values.data());
  }
  void text(const char* name, std::string& value) override {
    value = text_attribute(groups_.back(), name, place(name));
  }
  std::size_t length(std::size_t) override {
    const Hdf5Attribute attribute(H5Aopen(groups_.back(), "length", H5P_DEFAULT));
    const Hdf5Space space(attribute.is_open() ? H5Aget_space(attribute) : H5I_INVALID_HID);
    std::uint64_t value = 0;
    if (!attribute.is_open() || H5Sget_simple_extent_npoints(space) != 1 ||
        H5Aread(attribute, H5T_NATIVE_UINT64, &value) < 0 || value > list_most) {
      fail(place() + " does not say its length");
    }
    return value;
  }
  void unknown_word(const char* name, const std::string& word) override {
    fail(fmt::format("{} is '{}', which this version does not know", place(name), word));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ProfileError{fmt::format("cannot read profile '{}'", file_name_), what,
                       "write it again with 'maquette profile fit-public' or 'maquette calibrate'"};
  }
  std::string place(const std::string& name = "") const {
    std::string text = "'";
    for (const std::string& part : path_) text += "/" + part;
    return text + (name.empty() ? "'" : "/" + name + "'");
  }
  static std::size_t points(hid_t set) {
    const Hdf5Space space(H5Dget_space(set));
    const auto count = H5Sget_simple_extent_npoints(space);
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }

  Hdf5Dataset dataset(const char* name, const char* units) const {
    Hdf5Dataset set(H5Dopen2(groups_.back(), name, H5P_DEFAULT));
    if (!set.is_open()) {
      const bool exists = H5Lexists(groups_.back(), name, H5P_DEFAULT) > 0;
      fail(exists ? place(name) + " is not a data set" : "it has no " + place(name));
    }
    const std::string found = text_attribute(set, "units", place(name) + ": units");
    if (found != units) {
      fail(fmt::format("{} is in '{}', expected '{}'", place(name), found, units));
    }
    return set;
  }
  void read(hid_t set, const char* name, double* values) const {
    const Hdf5Type type(H5Dget_type(set));
    if (H5Tget_class(type) != H5T_FLOAT ||
        H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
      fail(place(name) + " does not hold numbers");
    }
  }
  std::string text_attribute(hid_t object, const char* name, const std::string& where) const {
    if (H5Aexists(object, name) <= 0) fail("it has no " + where);
    const Hdf5Attribute attribute(H5Aopen(object, name, H5P_DEFAULT));
    const Hdf5Type type(H5Aget_type(attribute));
    const std::size_t size = H5Tget_size(type);
    const Hdf5Space space(H5Aget_space(attribute));
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 || size > text_most ||
        H5Sget_simple_extent_npoints(space) != 1) {
      fail(where + " is not a text");
    }
    std::string value(size, '\0');
    if (H5Aread(attribute, type, value.data()) < 0) fail(where + " cannot be read");
    value.resize(value.find('\0') == std::string::npos ? size : value.find('\0'));
    return value;
  }

  std::string file_name_;
  std::vector<std::byte> image_;
  Hdf5File file_;
  std::vector<Hdf5Group> groups_;
  std::vector<std::string> path_;
};

std::vector<std::byte> bytes_of(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream in;
  if (std::filesystem::is_regular_file(file, ignored)) in.open(file, std::ios::binary);
  const std::string text = in.is_open() ? sim::read_stream(in) : "";
  if (!in.is_open() || in.bad()) {
    throw ProfileError{fmt::format("cannot open profile '{}'", file.string()),
                       "there is no such file, it is not a plain file, or it may not be read", ""};
  }
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

}  // namespace

ProfileData read_profile_data(const std::filesystem::path& file) {
  std::vector<std::byte> bytes = bytes_of(file);
  if (const auto complaint = seal_complaint(bytes)) {
    throw ProfileError{fmt::format("cannot read profile '{}'", file.string()), *complaint,
                       "write it again with 'maquette profile fit-public' or 'maquette calibrate'"};
  }
  const Hdf5Silence silence;
  ProfileData data;
  Reader reader(file.string(), std::move(bytes));
  walk(reader, data);
  check(data);
  return data;
}

std::unique_ptr<Profile> read_profile(const std::filesystem::path& file, const DeviceType& device) {
  ProfileData data = read_profile_data(file);
  if (data.device != device.name) {
    throw ProfileError{fmt::format("profile '{}' is of device '{}', not '{}'", file.string(),
                                   data.device, device.name),
                       "times of one device type say nothing about another",
                       "name the profile of this device type"};
  }
  return profile_of(std::move(data), device);
}

}  // namespace calibrate::profile
