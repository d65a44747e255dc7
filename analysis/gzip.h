// Compression into the gzip format.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace analysis {

// The header holds neither a time nor a name nor a system, so the same text gives the same bytes.
std::string gzip(std::string_view text);

// Whether the bytes begin as the format does.
inline bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

// The text inside. Nothing where the bytes are damaged or cut, or more than `bytes_max` come out.
std::optional<std::string> gunzip(std::string_view bytes, std::size_t bytes_max);

}  // namespace analysis
