// The HDF5 calls. Times of objects are off and the format's version is fixed, so nothing but the
// contents decides the bytes.
#include "analysis/hdf5_image.h"

#include <algorithm>

#include "sim/base/invariant.h"

namespace analysis {

using calibrate::profile::Hdf5Attribute;
using calibrate::profile::Hdf5Dataset;
using calibrate::profile::Hdf5File;
using calibrate::profile::Hdf5Group;
using calibrate::profile::Hdf5Properties;
using calibrate::profile::Hdf5Space;
using calibrate::profile::Hdf5Type;
using sim::invariant;

namespace {

// Fixed length, padded with zeros.
Hdf5Type text_type(std::size_t length) {
  Hdf5Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, std::max<std::size_t>(length, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

void write_attribute(hid_t object, const char* name, hid_t stored, hid_t native, const void* data) {
  const Hdf5Space space(H5Screate(H5S_SCALAR));
  const Hdf5Attribute made(H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT));
  invariant(made.is_open() && H5Awrite(made, native, data) >= 0, "HDF5 makes an attribute");
}

void write_text(hid_t object, const char* name, const std::string& text) {
  const Hdf5Type type = text_type(text.size());
  write_attribute(object, name, type, type, text.c_str());
}

}  // namespace

Hdf5Image::Hdf5Image(const std::string& format) {
  const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS));
  constexpr std::size_t growth = 1 << 20;
  H5Pset_fapl_core(access, growth, false);
  // The oldest layout: H5Fget_file_image of 1.10 spoils the checksum that newer superblocks have.
  H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
  const Hdf5Properties creation(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(creation, false);
  file_ = Hdf5File(H5Fcreate("result", H5F_ACC_TRUNC, creation, access));
  invariant(file_.is_open(), "HDF5 makes a file in memory");
  groups_.emplace_back(H5Gopen2(file_, "/", H5P_DEFAULT));
  attribute("format", format);
}

void Hdf5Image::enter(const std::string& group) {
  const Hdf5Properties creation(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(creation, false);
  groups_.emplace_back(
      H5Gcreate2(groups_.back(), group.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT));
  invariant(groups_.back().is_open(), "HDF5 makes a group");
}

void Hdf5Image::leave() { groups_.pop_back(); }

void Hdf5Image::attribute(const char* name, const std::string& text) {
  write_text(groups_.back(), name, text);
}

void Hdf5Image::attribute(const char* name, std::int64_t number) {
  write_attribute(groups_.back(), name, H5T_STD_I64LE, H5T_NATIVE_INT64, &number);
}

void Hdf5Image::dataset(const std::string& name, const char* units,
                        const std::vector<double>& values) {
  write(name, units, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.size(), values.data());
}

void Hdf5Image::dataset(const std::string& name, const char* units,
                        const std::vector<std::int64_t>& values) {
  write(name, units, H5T_STD_I64LE, H5T_NATIVE_INT64, values.size(), values.data());
}

void Hdf5Image::dataset(const std::string& name, const std::vector<std::string>& texts) {
  std::size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  std::string packed;
  for (const std::string& text : texts) packed += text + std::string(longest - text.size(), '\0');
  const Hdf5Type type = text_type(longest);
  write(name, "text", type, type, texts.size(), packed.data());
}

void Hdf5Image::write(const std::string& name, const char* units, hid_t stored, hid_t native,
                      std::size_t count, const void* data) {
  const hsize_t size = count;
  const Hdf5Space space(H5Screate_simple(1, &size, nullptr));
  const Hdf5Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(creation, false);
  const Hdf5Dataset made(
      H5Dcreate2(groups_.back(), name.c_str(), stored, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  invariant(made.is_open(), "HDF5 makes a dataset");
  const bool is_written =
      count == 0 || H5Dwrite(made, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  invariant(is_written, "HDF5 fills a dataset");
  write_text(made, "units", units);
}

std::string Hdf5Image::bytes() {
  invariant(groups_.size() == 1, "every group was left");
  groups_.clear();
  H5Fflush(file_, H5F_SCOPE_GLOBAL);
  const auto size = H5Fget_file_image(file_, nullptr, 0);
  invariant(size > 0, "HDF5 returns its file");
  std::string image(static_cast<std::size_t>(size), '\0');
  H5Fget_file_image(file_, image.data(), image.size());
  return image;
}

}  // namespace analysis
