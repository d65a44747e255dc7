// One dataset at a time, each checked before it is believed.
#include <fmt/format.h>

#include <stdexcept>

#include "analysis/hdf5_image.h"

namespace analysis {

using calibrate::profile::Hdf5Attribute;
using calibrate::profile::Hdf5Dataset;
using calibrate::profile::Hdf5File;
using calibrate::profile::Hdf5Space;
using calibrate::profile::Hdf5Type;

namespace {

constexpr std::size_t values_max = 50'000'000;
constexpr std::size_t text_max = 1 << 16;

}  // namespace

Hdf5Reader::Hdf5Reader(const std::filesystem::path& file, const std::string& format)
    : name_(file.string()), file_(H5Fopen(name_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
  if (!file_.is_open()) fail("it cannot be opened, or is not HDF5");
  groups_.emplace_back(H5Gopen2(file_, "/", H5P_DEFAULT));
  if (H5Aexists(groups_.back(), "format") <= 0 || text("format") != format) {
    fail(fmt::format("it is no '{}'", format));
  }
}

void Hdf5Reader::fail(const std::string& what) const {
  throw std::runtime_error(fmt::format("cannot read '{}': {}", name_, what));
}

bool Hdf5Reader::has(const std::string& name) const {
  return H5Lexists(groups_.back(), name.c_str(), H5P_DEFAULT) > 0;
}

void Hdf5Reader::enter(const std::string& group) {
  if (!has(group)) fail(fmt::format("it has no '{}'", group));
  groups_.emplace_back(H5Gopen2(groups_.back(), group.c_str(), H5P_DEFAULT));
  if (!groups_.back().is_open()) fail(fmt::format("'{}' is no group", group));
}

void Hdf5Reader::leave() { groups_.pop_back(); }

std::string Hdf5Reader::text_of(hid_t object, const char* attribute) const {
  const Hdf5Attribute found(H5Aopen(object, attribute, H5P_DEFAULT));
  if (!found.is_open()) fail(fmt::format("it has no attribute '{}'", attribute));
  const Hdf5Type type(H5Aget_type(found));
  const std::size_t size = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 || size > text_max) {
    fail(fmt::format("attribute '{}' is no text", attribute));
  }
  std::string text(size, '\0');
  if (H5Aread(found, type, text.data()) < 0) {
    fail(fmt::format("attribute '{}' cannot be read", attribute));
  }
  return text.c_str();  // up to the first zero
}

std::string Hdf5Reader::text(const char* attribute) const {
  return text_of(groups_.back(), attribute);
}

std::int64_t Hdf5Reader::integer(const char* attribute) const {
  const Hdf5Attribute found(H5Aopen(groups_.back(), attribute, H5P_DEFAULT));
  std::int64_t number = 0;
  if (!found.is_open() || H5Tget_class(Hdf5Type(H5Aget_type(found))) != H5T_INTEGER ||
      H5Aread(found, H5T_NATIVE_INT64, &number) < 0) {
    fail(fmt::format("it has no number '{}'", attribute));
  }
  return number;
}

Hdf5Dataset Hdf5Reader::open(const std::string& name, const char* units, std::size_t& count) const {
  if (!has(name)) fail(fmt::format("it has no '{}'", name));
  Hdf5Dataset set(H5Dopen2(groups_.back(), name.c_str(), H5P_DEFAULT));
  if (!set.is_open()) fail(fmt::format("'{}' is no dataset", name));
  const std::string found = text_of(set, "units");
  if (found != units) fail(fmt::format("'{}' is in '{}', expected '{}'", name, found, units));
  const auto points = H5Sget_simple_extent_npoints(Hdf5Space(H5Dget_space(set)));
  if (points < 0 || static_cast<std::size_t>(points) > values_max) {
    fail(fmt::format("'{}' is too long", name));
  }
  count = static_cast<std::size_t>(points);
  return set;
}

std::vector<double> Hdf5Reader::numbers(const std::string& name, const char* units,
                                        std::size_t least) const {
  std::size_t count = 0;
  const Hdf5Dataset set = open(name, units, count);
  std::vector<double> values(count);
  if (count < least || (count > 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                             values.data()) < 0)) {
    fail(fmt::format("'{}' does not hold {} numbers", name, least));
  }
  return values;
}

std::vector<std::int64_t> Hdf5Reader::integers(const std::string& name, const char* units,
                                               std::size_t least) const {
  std::size_t count = 0;
  const Hdf5Dataset set = open(name, units, count);
  std::vector<std::int64_t> values(count);
  if (count < least || (count > 0 && H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                             values.data()) < 0)) {
    fail(fmt::format("'{}' does not hold {} whole numbers", name, least));
  }
  return values;
}

std::vector<std::string> Hdf5Reader::texts(const std::string& name) const {
  std::size_t count = 0;
  const Hdf5Dataset set = open(name, "text", count);
  const Hdf5Type type(H5Dget_type(set));
  const std::size_t size = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 || size > text_max) {
    fail(fmt::format("'{}' holds no texts", name));
  }
  std::string packed(count * size, '\0');
  if (count > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()) < 0) {
    fail(fmt::format("'{}' cannot be read", name));
  }
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.emplace_back(packed.substr(i * size, size).c_str());
  }
  return values;
}

}  // namespace analysis
