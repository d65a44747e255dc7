// Compression into the gzip format.
#pragma once

#include <string>
#include <string_view>

namespace analysis {

// The header holds neither a time nor a name nor a system, so the same text gives the same bytes.
std::string gzip(std::string_view text);

}  // namespace analysis
