// Types of the rows, in the words of HDF5.
#include "calibrate/profile/tables.h"

#include <cstddef>

namespace calibrate::profile {
namespace {

Hdf5Type text_type(std::size_t size) {
  Hdf5Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, size);
  return type;
}

template <class Row>
Hdf5Type named_row() {
  Hdf5Type type(H5Tcreate(H5T_COMPOUND, sizeof(Row)));
  H5Tinsert(type, "name", offsetof(Row, name), text_type(sizeof(RowName)));
  return type;
}

}  // namespace

Hdf5Type NumberRow::type(hid_t number) {
  Hdf5Type type = named_row<NumberRow>();
  H5Tinsert(type, "value", offsetof(NumberRow, value), number);
  H5Tinsert(type, "units", offsetof(NumberRow, units), text_type(sizeof(RowUnits)));
  return type;
}

Hdf5Type SeriesRow::type(hid_t number) {
  Hdf5Type type = named_row<SeriesRow>();
  H5Tinsert(type, "units", offsetof(SeriesRow, units), text_type(sizeof(RowUnits)));
  H5Tinsert(type, "values", offsetof(SeriesRow, values), Hdf5Type(H5Tvlen_create(number)));
  return type;
}

Hdf5Type TextRow::type(hid_t) {
  Hdf5Type type = named_row<TextRow>();
  H5Tinsert(type, "text", offsetof(TextRow, text), text_type(H5T_VARIABLE));
  return type;
}

}  // namespace calibrate::profile
