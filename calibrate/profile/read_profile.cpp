// Reading a profile: seal verified, then HDF5 opened on the bytes in memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <span>
#include <system_error>

#include "calibrate/profile/archive.h"
#include "calibrate/profile/hdf5_handle.h"
#include "calibrate/profile/seal.h"
#include "calibrate/profile/tables.h"
#include "sim/base/read_stream.h"

namespace calibrate::profile {
namespace {

constexpr int rows_most = 100'000;
// HDF5 refuses an image under the name of something that exists; nothing can have this one.
constexpr const char* image_name = "/dev/null/profile";
constexpr const char* repair =
    "write it again with 'maquette profile fit-public' or 'maquette calibrate'";

struct Number {
  std::string name, units;
  double value = 0;
};
struct Series {
  std::string name, units;
  std::vector<double> values;
};
struct Text {
  std::string name, text;
};

class Reader final : public Archive {
 public:
  // `image` stays where it is while this one lives.
  Reader(std::string file_name, std::span<std::byte> image) : file_name_(std::move(file_name)) {
    const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fapl_core(access, 1 << 16, false);
    H5Pset_file_image(access, image.data(), image.size());
    const Hdf5File file(H5Fopen(image_name, H5F_ACC_RDONLY, access));
    if (!file.is_open()) fail("its contents are not HDF5");
    read_table<NumberRow>(file, [&](const NumberRow& row) {
      numbers_.rows.push_back(
          {std::string(text_of(row.name)), std::string(text_of(row.units)), row.value});
    });
    read_table<SeriesRow>(file, [&](const SeriesRow& row) {
      const auto* first = static_cast<const double*>(row.values.p);
      series_.rows.push_back({std::string(text_of(row.name)), std::string(text_of(row.units)),
                              std::vector<double>(first, first + row.values.len)});
    });
    read_table<TextRow>(file, [&](const TextRow& row) {
      texts_.rows.push_back({std::string(text_of(row.name)), row.text ? row.text : ""});
    });
  }

  void number(const char* name, const char* units, double& value) override {
    value = next(numbers_, name, units).value;
  }
  void numbers(const char* name, const char* units, std::vector<double>& values) override {
    values = next(series_, name, units).values;
  }
  void text(const char* name, std::string& value) override { value = next(texts_, name).text; }
  std::size_t length(std::size_t) override {
    double count = 0;
    number("length", "1", count);
    if (!(count >= 0 && count <= rows_most) || count != std::floor(count)) {
      fail(place("length") + " is not the length of a list");
    }
    return static_cast<std::size_t>(count);
  }
  bool continues(bool) override { return numbers_.position < numbers_.rows.size(); }
  void unknown_word(const char* name, const std::string& word) override {
    fail(fmt::format("{} is '{}', which this version does not know", place(name), word));
  }
  // After the walk: nothing may be left over.
  void finish() const {
    finish(numbers_);
    finish(series_);
    finish(texts_);
  }

 private:
  template <class Row>
  struct Table {
    std::vector<Row> rows;
    std::size_t position = 0;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw ProfileError{fmt::format("cannot read profile '{}'", file_name_), what, repair};
  }
  std::string place(const char* name) const { return "'/" + path(name) + "'"; }

  template <class Row>
  const Row& next(Table<Row>& table, const char* name) {
    if (table.position == table.rows.size() || table.rows[table.position].name != path(name)) {
      fail("it has no " + place(name));
    }
    return table.rows[table.position++];
  }
  template <class Row>
  const Row& next(Table<Row>& table, const char* name, const char* units) {
    const Row& row = next(table, name);
    if (row.units != units) {
      fail(fmt::format("{} is in '{}', expected '{}'", place(name), row.units, units));
    }
    return row;
  }
  template <class Row>
  void finish(const Table<Row>& table) const {
    if (table.position == table.rows.size()) return;
    fail(fmt::format("it has '/{}', which this version does not know",
                     table.rows[table.position].name));
  }

  template <class Row, class Take>
  void read_table(hid_t file, Take take) const {
    const std::string table = fmt::format("'{}'", Row::table);
    if (H5Lexists(file, Row::table, H5P_DEFAULT) <= 0) fail("it has no table " + table);
    const Hdf5Dataset set(H5Dopen2(file, Row::table, H5P_DEFAULT));
    if (!set.is_open()) fail(table + " is not a table");
    const Hdf5Type type = Row::type(H5T_NATIVE_DOUBLE);
    if (!has_columns(Hdf5Type(H5Dget_type(set)), type)) fail(table + " lacks a column");
    const Hdf5Space space(H5Dget_space(set));
    const auto count = H5Sget_simple_extent_npoints(space);
    if (count < 0 || count > rows_most) fail(table + " is too long");
    std::vector<Row> rows(static_cast<std::size_t>(count));
    // HDF5 clears the whole of a megabyte for converting types unless told how much it needs.
    const Hdf5Properties transfer(H5Pcreate(H5P_DATASET_XFER));
    H5Pset_buffer(transfer, std::max(rows.size(), std::size_t{1}) * sizeof(Row), nullptr, nullptr);
    const bool is_read = H5Dread(set, type, H5S_ALL, H5S_ALL, transfer, rows.data()) >= 0;
    if (is_read) std::for_each(rows.begin(), rows.end(), take);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, rows.data());
    if (!is_read) fail(table + " cannot be read");
  }
  static bool has_columns(hid_t found, hid_t expected) {
    if (H5Tget_class(found) != H5T_COMPOUND) return false;
    for (int i = 0; i < H5Tget_nmembers(expected); ++i) {
      char* name = H5Tget_member_name(expected, static_cast<unsigned>(i));
      const bool is_there = H5Tget_member_index(found, name) >= 0;
      H5free_memory(name);
      if (!is_there) return false;
    }
    return true;
  }

  std::string file_name_;
  Table<Number> numbers_;
  Table<Series> series_;
  Table<Text> texts_;
};

std::string bytes_of(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream in;
  if (std::filesystem::is_regular_file(file, ignored)) in.open(file, std::ios::binary);
  std::string bytes = in.is_open() ? sim::read_stream(in) : "";
  if (!in.is_open() || in.bad()) {
    throw ProfileError{fmt::format("cannot open profile '{}'", file.string()),
                       "there is no such file, it is not a plain file, or it may not be read", ""};
  }
  return bytes;
}

}  // namespace

ProfileData read_profile_data(const std::filesystem::path& file) {
  std::string text = bytes_of(file);
  const auto bytes = std::as_writable_bytes(std::span(text));
  if (const auto complaint = seal_complaint(bytes)) {
    throw ProfileError{fmt::format("cannot read profile '{}'", file.string()), *complaint, repair};
  }
  const Hdf5Silence silence;
  ProfileData data;
  Reader reader(file.string(), bytes.subspan(seal_size));
  walk(reader, data);
  reader.finish();
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
