// The three tables that a profile file consists of, one row a field: numbers, series of numbers and
// texts. Tables, because opening an HDF5 object costs far more than reading a row.
//
// Rows stand in the order of walk(); their names are paths like "gemm/0/m/least".
#pragma once

#include <hdf5.h>

#include <array>
#include <string_view>

#include "calibrate/profile/hdf5_handle.h"

namespace calibrate::profile {

inline constexpr const char* table_format = "maquette profile 2";

using RowName = std::array<char, 64>;  // both end in at least one zero
using RowUnits = std::array<char, 16>;

// As HDF5 wants them in memory: it allocates and frees what `values` and `text` of a row that it
// reads point to. `type` is that of a row, with `number` as the type of numbers.
struct NumberRow {
  static constexpr const char* table = "numbers";
  static Hdf5Type type(hid_t number);
  RowName name = {};
  double value = 0;
  RowUnits units = {};
};
struct SeriesRow {
  static constexpr const char* table = "series";
  static Hdf5Type type(hid_t number);
  RowName name = {};
  RowUnits units = {};
  hvl_t values = {};
};
struct TextRow {
  static constexpr const char* table = "texts";
  static Hdf5Type type(hid_t number);
  RowName name = {};
  char* text = nullptr;
};

template <std::size_t size>
std::string_view text_of(const std::array<char, size>& padded) {
  const std::string_view whole(padded.data(), size);
  return whole.substr(0, whole.find('\0'));
}

}  // namespace calibrate::profile
