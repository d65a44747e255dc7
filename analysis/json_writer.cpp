// Commas, escapes, digits.
#include "analysis/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace analysis {

namespace {

// Length of the UTF-8 sequence at the start of `text`, 0 if there is none. Neither overlong forms
// nor surrogates nor anything beyond U+10FFFF is one.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool is_overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool is_surrogate = first == 0xed && byte(1) > 0x9f;
    return continues(1) && continues(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool is_overlong = first == 0xf0 && byte(1) < 0x90;
    const bool is_beyond = first == 0xf4 && byte(1) > 0x8f;
    return continues(1) && continues(2) && continues(3) && !is_overlong && !is_beyond ? 4 : 0;
  }
  return 0;
}

std::string escaped(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    default:
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f
                 ? fmt::format("\\u{:04x}", static_cast<unsigned char>(c))
                 : std::string(1, c);
  }
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 1) {
      result += escaped(text[0]);
    } else if (length > 1) {
      result += text.substr(0, length);
    } else {
      result += "\\ufffd";
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return result + '"';
}

}  // namespace

void JsonWriter::separate() {
  if (needs_comma_) text_ += needs_break_ ? "," : ", ";
  if (needs_break_) text_ += '\n';
  needs_comma_ = needs_break_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  needs_comma_ = false;
  separate();
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  text_ += text;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  text_ += quoted(name) + ": ";
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return raw(quoted(text)); }

JsonWriter& JsonWriter::value(double number) {
  return raw(std::isfinite(number) ? fmt::format("{}", number) : "null");
}

JsonWriter& JsonWriter::value(const std::vector<std::string>& texts) {
  open_array();
  for (const std::string& text : texts) value(std::string_view(text));
  return close_array();
}

JsonWriter& JsonWriter::seconds(std::int64_t picoseconds) { return raw(decimal(picoseconds, 12)); }

JsonWriter& JsonWriter::microseconds(std::int64_t picoseconds) {
  return raw(decimal(picoseconds, 6));
}

JsonWriter& JsonWriter::new_line() {
  needs_break_ = true;
  return *this;
}

std::string JsonWriter::take() { return std::exchange(text_, {}); }

std::string decimal(std::int64_t number, int fraction_digits) {
  const bool is_negative = number < 0;
  // Through unsigned: the least number has no positive twin.
  const auto magnitude =
      is_negative ? -static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  std::string digits =
      fmt::format("{:0{}}", magnitude, fraction_digits + 1);  // at least one before the point
  std::string fraction = digits.substr(digits.size() - static_cast<std::size_t>(fraction_digits));
  digits.resize(digits.size() - fraction.size());
  fraction.resize(fraction.find_last_not_of('0') + 1);
  return (is_negative ? "-" : "") + digits + (fraction.empty() ? "" : "." + fraction);
}

}  // namespace analysis
