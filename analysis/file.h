// Files that are there as a whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace analysis {

// Writes beside `file`, then renames. Throws std::runtime_error that names the file and says why.
void write_whole(const std::filesystem::path& file, std::string_view bytes);

}  // namespace analysis
