// JSON text, member by member, on one line.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace analysis {

// Commas are put where they belong; the caller closes what it opens, and names every member of an
// object. Text that is not UTF-8 comes out with U+FFFD in place of what is wrong.
class JsonWriter {
 public:
  JsonWriter& open_object() { return open('{'); }
  JsonWriter& close_object() { return close('}'); }
  JsonWriter& open_array() { return open('['); }
  JsonWriter& close_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  // The shortest digits that read back as the same number; not finite: null.
  JsonWriter& value(double number);
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  template <std::integral Number>
  JsonWriter& value(Number number) {
    return raw(std::to_string(number));
  }
  JsonWriter& value(const std::vector<std::string>& texts);
  template <class Number>
  JsonWriter& value(const std::optional<Number>& number) {
    return number ? value(*number) : raw("null");
  }
  // Whole picoseconds as seconds or microseconds, every digit.
  JsonWriter& seconds(std::int64_t picoseconds);
  JsonWriter& microseconds(std::int64_t picoseconds);
  // A line break before the next value, for files that people page through.
  JsonWriter& new_line();

  template <class Value>
  JsonWriter& member(std::string_view name, const Value& what) {
    return key(name).value(what);
  }
  std::string take();

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();

  std::string text_;
  bool needs_comma_ = false, needs_break_ = false;
};

// "1.5" for 1'500'000 with six fraction digits: exact, without trailing zeros.
std::string decimal(std::int64_t number, int fraction_digits);

}  // namespace analysis
