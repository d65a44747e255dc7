// Quoting and indenting JSON.
#include "sim/scenario/json_text.h"

#include <fmt/format.h>

namespace sim::scenario {

std::string json_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      result += letter;
    }
  }
  return result + '"';
}

std::string json_indented(std::string_view compact) {
  std::string result;
  std::size_t depth = 0;
  bool is_in_string = false;
  const auto new_line = [&] { result += "\n" + std::string(2 * depth, ' '); };
  for (std::size_t at = 0; at < compact.size(); ++at) {
    const char letter = compact[at];
    if (is_in_string) {
      result += letter;
      if (letter == '\\') result += compact[++at];
      is_in_string = letter != '"';
      continue;
    }
    const bool opens = letter == '{' || letter == '[', closes = letter == '}' || letter == ']';
    const bool is_empty =
        opens && at + 1 < compact.size() && (compact[at + 1] == '}' || compact[at + 1] == ']');
    if (is_empty) {
      result += compact.substr(at, 2);
      ++at;
      continue;
    }
    if (closes) {
      --depth;
      new_line();
    }
    result += letter;
    if (opens) ++depth;
    if (opens || letter == ',') new_line();
    if (letter == ':') result += ' ';
    is_in_string = letter == '"';
  }
  return result;
}

}  // namespace sim::scenario
