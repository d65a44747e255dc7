// UTF-8 as of RFC 3629.
#include "sim/scenario/encoding.h"

#include <algorithm>

namespace sim::scenario {
namespace {

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Bytes of the character that begins at `at`; 0: not UTF-8.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length == 0 || lead > 0xf4 || at + length > text.size()) return 0;
  for (std::size_t next = 1; next < length; ++next) {
    if (!is_continuation(text[at + next])) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
  const auto second = static_cast<unsigned char>(text[at + 1]);
  if (lead == 0xe0 && second < 0xa0) return 0;
  if (lead == 0xed && second > 0x9f) return 0;
  if (lead == 0xf0 && second < 0x90) return 0;
  if (lead == 0xf4 && second > 0x8f) return 0;
  return length;
}

}  // namespace

std::optional<std::size_t> first_unreadable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool is_control =
        byte < 0x20 ? byte != '\t' && byte != '\n' && byte != '\r' : byte == 0x7f;
    const std::size_t length = is_control ? 0 : character_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::string shown(std::string_view text, std::size_t characters) {
  std::string result;
  std::size_t count = 0;
  for (const char byte : text) {
    if (!is_continuation(byte) && count++ == characters) return result + "...";
    result += byte == '\n' || byte == '\t' || byte == '\r' ? ' ' : byte;
  }
  return result;
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

}  // namespace sim::scenario
