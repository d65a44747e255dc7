// The 512 bytes before the HDF5 part of a profile file: format name, size and checksum of the rest.
//
// HDF5 looks for its own start at 0, 512, 1024, ... so that its tools read the file as it is. The
// checksum is verified before HDF5 sees a byte: a damaged file is refused, not parsed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace calibrate::profile {

inline constexpr std::size_t seal_size = 512;

std::string seal_of(std::span<const std::byte> contents);
// Why a file is not a whole profile file; nothing when it is.
std::optional<std::string> seal_complaint(std::span<const std::byte> file);

}  // namespace calibrate::profile
