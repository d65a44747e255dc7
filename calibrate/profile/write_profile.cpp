// Writing a profile: an HDF5 file made in memory, sealed, then moved into place.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <fstream>
#include <system_error>

#include "calibrate/profile/archive.h"
#include "calibrate/profile/hdf5_handle.h"
#include "calibrate/profile/seal.h"
#include "calibrate/profile/tables.h"
#include "sim/base/invariant.h"

namespace calibrate::profile {
namespace {

template <std::size_t size>
std::array<char, size> padded(std::string_view text) {
  sim::invariant(text.size() < size, "names and units fit into their columns");
  std::array<char, size> column = {};
  std::copy(text.begin(), text.end(), column.begin());
  return column;
}

class Writer final : public Archive {
 public:
  void number(const char* name, const char* units, double& value) override {
    numbers_.push_back({row_name(name), value, padded<sizeof(RowUnits)>(units)});
  }
  void numbers(const char* name, const char* units, std::vector<double>& values) override {
    series_storage_.push_back(values);
    series_.push_back({row_name(name),
                       padded<sizeof(RowUnits)>(units),
                       {values.size(), series_storage_.back().data()}});
  }
  void text(const char* name, std::string& value) override {
    text_storage_.push_back(value);
    texts_.push_back({row_name(name), text_storage_.back().data()});
  }
  std::size_t length(std::size_t count) override {
    numbers_.push_back(
        {row_name("length"), static_cast<double>(count), padded<sizeof(RowUnits)>("1")});
    return count;
  }
  bool continues(bool wanted) override { return wanted; }
  void unknown_word(const char* name, const std::string&) override { sim::bug(name); }

  std::vector<std::byte> image() const {
    const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS));
    constexpr std::size_t growth = 1 << 20;
    H5Pset_fapl_core(access, growth, false);  // in memory only
    const Hdf5File file(H5Fcreate("profile", H5F_ACC_TRUNC, H5P_DEFAULT, access));
    sim::invariant(file.is_open(), "HDF5 makes a file in memory");
    write_format(file);
    write_table(file, numbers_);
    write_table(file, series_);
    write_table(file, texts_);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    const auto size = H5Fget_file_image(file, nullptr, 0);
    sim::invariant(size > 0, "HDF5 returns its file");
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    H5Fget_file_image(file, bytes.data(), bytes.size());
    return bytes;
  }

 private:
  RowName row_name(const char* name) const { return padded<sizeof(RowName)>(path(name)); }

  static void write_format(hid_t file) {
    const std::string_view format = table_format;
    const Hdf5Type type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, format.size() + 1);
    const Hdf5Space space(H5Screate(H5S_SCALAR));
    const Hdf5Attribute attribute(
        H5Acreate2(file, "format", type, space, H5P_DEFAULT, H5P_DEFAULT));
    sim::invariant(attribute.is_open(), "HDF5 makes an attribute in memory");
    H5Awrite(attribute, type, format.data());
  }

  template <class Row>
  static void write_table(hid_t file, const std::vector<Row>& rows) {
    const Hdf5Type stored = Row::type(H5T_IEEE_F64LE);
    H5Tpack(stored);
    const hsize_t size = rows.size();
    const Hdf5Space space(H5Screate_simple(1, &size, nullptr));
    const Hdf5Properties creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_obj_track_times(creation, false);
    const Hdf5Dataset table(
        H5Dcreate2(file, Row::table, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    sim::invariant(table.is_open(), "HDF5 makes a table in memory");
    const herr_t status =
        H5Dwrite(table, Row::type(H5T_NATIVE_DOUBLE), H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data());
    sim::invariant(status >= 0, "HDF5 writes a table in memory");
  }

  std::vector<NumberRow> numbers_;
  std::vector<SeriesRow> series_;
  std::vector<TextRow> texts_;
  // What the rows point to; a deque, so that it stays where it is.
  std::deque<std::vector<double>> series_storage_;
  std::deque<std::string> text_storage_;
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
