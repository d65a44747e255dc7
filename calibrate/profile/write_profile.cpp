// Writing a profile: an HDF5 file made in memory, sealed, then moved into place.
#include <fmt/format.h>

#include <cstddef>
#include <fstream>
#include <system_error>

#include "calibrate/profile/archive.h"
#include "calibrate/profile/hdf5_handle.h"
#include "calibrate/profile/seal.h"
#include "sim/base/invariant.h"

namespace calibrate::profile {
namespace {

class Writer final : public Archive {
 public:
  Writer() {
    const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS));
    constexpr std::size_t growth = 1 << 20;
    H5Pset_fapl_core(access, growth, false);  // in memory only
    file_ = Hdf5File(H5Fcreate("profile", H5F_ACC_TRUNC, H5P_DEFAULT, access));
    sim::invariant(file_.is_open(), "HDF5 makes a file in memory");
    groups_.emplace_back(H5Gopen2(file_, "/", H5P_DEFAULT));
    set_text_attribute(groups_.back(), "format", "maquette profile 1");
  }

  void enter(const std::string& group) override {
    const Hdf5Properties creation(H5Pcreate(H5P_GROUP_CREATE));
    H5Pset_obj_track_times(creation, false);
    groups_.emplace_back(
        H5Gcreate2(groups_.back(), group.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT));
    sim::invariant(groups_.back().is_open(), "HDF5 makes a group in memory");
  }
  void leave() override { groups_.pop_back(); }

  void number(const char* name, const char* units, double& value) override {
    const Hdf5Space space(H5Screate(H5S_SCALAR));
    dataset(name, units, H5T_IEEE_F64LE, space, H5T_NATIVE_DOUBLE, &value);
  }
  void numbers(const char* name, const char* units, std::vector<double>& values) override {
    const hsize_t size = values.size();
    const Hdf5Space space(H5Screate_simple(1, &size, nullptr));
    dataset(name, units, H5T_IEEE_F64LE, space, H5T_NATIVE_DOUBLE,
            values.empty() ? nullptr : values.data());
  }
  void text(const char* name, std::string& value) override {
    set_text_attribute(groups_.back(), name, value);
  }
  std::size_t length(std::size_t count) override {
    const Hdf5Space space(H5Screate(H5S_SCALAR));
    const Hdf5Attribute attribute(
        H5Acreate2(groups_.back(), "length", H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT));
    const std::uint64_t value = count;
    H5Awrite(attribute, H5T_NATIVE_UINT64, &value);
    return count;
  }
  void unknown_word(const char* name, const std::string&) override { sim::bug(name); }

  std::vector<std::byte> image() {
    groups_.clear();
    H5Fflush(file_, H5F_SCOPE_GLOBAL);
    const auto size = H5Fget_file_image(file_, nullptr, 0);
    sim::invariant(size > 0, "HDF5 returns its file");
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    H5Fget_file_image(file_, bytes.data(), bytes.size());
    return bytes;
  }

 private:
  void dataset(const char* name, const char* units, hid_t stored, hid_t space, hid_t native,
               const double* data) {
    const Hdf5Properties creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_obj_track_times(creation, false);
    const Hdf5Dataset set(
        H5Dcreate2(groups_.back(), name, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    sim::invariant(set.is_open(), "HDF5 makes a data set in memory");
    if (data) H5Dwrite(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    set_text_attribute(set, "units", units);
  }

  static void set_text_attribute(hid_t object, const char* name, const std::string& text) {
    const Hdf5Type type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, text.size() + 1);
    const Hdf5Space space(H5Screate(H5S_SCALAR));
    const Hdf5Attribute attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    sim::invariant(attribute.is_open(), "HDF5 makes an attribute in memory");
    H5Awrite(attribute, type, text.c_str());
  }

  Hdf5File file_;
  std::vector<Hdf5Group> groups_;
};

void move_into_place(const std::filesystem::path& file, const std::string& seal,
                     const std::vector<std::byte>& image) {
  std::filesystem::path draft = file;
  draft += ".part";
  std::ofstream out(draft, std::ios::binary);
  out.write(seal.data(), static_cast<std::streamsize>(seal.size()));
  out.write(reinterpret_cast<const char*>(image.data()),
            static_cast<std::streamsize>(image.size()));
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(draft, file, error);
  if (!out || error) {
    std::error_code ignored;
    std::filesystem::remove(draft, ignored);
    throw ProfileError{fmt::format("cannot write profile '{}'", file.string()),
                       error ? error.message() : "", "is the folder there, and writable?"};
  }
}

}  // namespace

void write_profile(const std::filesystem::path& file, const ProfileData& data) {
  check(data);
  std::vector<std::byte> image;
  {
    const Hdf5Silence silence;
    Writer writer;
    ProfileData copy = data;
    walk(writer, copy);
    image = writer.image();
  }
  move_into_place(file, seal_of(image), image);
}

}  // namespace calibrate::profile
