// Defaults, which tables hold as they would be written.
#include "sim/scenario/section.h"

#include <algorithm>
#include <charconv>

#include "sim/base/invariant.h"

namespace sim::scenario {
namespace {

bool is_json_literal(const std::string& text) {
  if (text == "true" || text == "false") return true;
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size();
}

void move_to(Value& value, const Value& section) {
  value.file = section.file;
  value.spot = value.named_at = section.named_at;
  for (Value& item : value.items) move_to(item, section);
  for (Entry& entry : value.entries) move_to(entry.value, section);
}

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Words and values with units, which most defaults are: YAML takes them as they are.
bool is_plain(const std::string& text) {
  return !text.empty() && text != "null" && is_letter_or_digit(text.front()) &&
         text.back() != ' ' && std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_or_digit(c) || c == ' ' || c == '.' || c == '-' || c == '%';
         });
}

Value parsed(const std::string& text) {
  if (is_plain(text)) {
    Value value;
    value.kind = Value::Kind::text;
    value.text = text;
    return value;
  }
  Diagnostics none;
  auto value = parse_document("default", text, none);
  invariant(value.has_value(), "a default is not YAML");
  return std::move(*value);
}

}  // namespace

Value default_value(const std::string& text, const Value& section) {
  Value value = parsed(text);
  move_to(value, section);
  return value;
}

std::string json_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::nothing:
      return "null";
    case Value::Kind::text:
      return is_json_literal(value.text) && !value.is_quoted ? value.text : json_quoted(value.text);
    case Value::Kind::list: {
      std::vector<std::string> items;
      for (const Value& item : value.items) items.push_back(json_of(item));
      return fmt::format("[{}]", fmt::join(items, ","));
    }
    case Value::Kind::map: {
      std::vector<std::string> entries;
      for (const Entry& entry : value.entries) {
        entries.push_back(json_quoted(entry.key) + ":" + json_of(entry.value));
      }
      return fmt::format("{{{}}}", fmt::join(entries, ","));
    }
  }
  bug("a value has no kind");
}

}  // namespace sim::scenario
