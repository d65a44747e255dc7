// Reading a text file whole, and only a reasonable one.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "sim/base/read_stream.h"
#include "sim/scenario/document.h"

namespace sim::scenario {

std::optional<std::string> read_text(const std::filesystem::path& file, const Place& place,
                                     Diagnostics& diagnostics) {
  std::error_code status;
  const std::string shown = file.generic_string();
  const auto fail = [&](const std::string& message, const std::string& hint = "") {
    diagnostics.error(place, message, "", hint);
    return std::nullopt;
  };
  if (std::filesystem::is_directory(file, status)) {
    return fail(fmt::format("'{}' is a folder, not a file", shown));
  }
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    const char* reason = errno != 0 ? std::strerror(errno) : "unknown reason";
    return fail(fmt::format("cannot read '{}': {}", shown, reason));
  }
  std::string text = read_stream(stream, file_bytes_max);
  if (stream.bad()) return fail(fmt::format("cannot read '{}'", shown));
  if (text.size() > file_bytes_max) {
    return fail(fmt::format("'{}' has more than 16 MiB, the most an input file may have", shown));
  }
  return text;
}

std::optional<Value> read_document(const std::filesystem::path& file, const Place& place,
                                   Diagnostics& diagnostics) {
  auto text = read_text(file, place, diagnostics);
  if (!text) return std::nullopt;
  const std::string name = file.generic_string();
  if (text->rfind("\xef\xbb\xbf", 0) == 0) text->erase(0, 3);
  diagnostics.add_source(name, *text);
  return parse_document(name, *text, diagnostics);
}

}  // namespace sim::scenario
