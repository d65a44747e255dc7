// Texts are written plain where that is safe, since a quoted number is none.
#include "sim/scenario/yaml_text.h"

#include <algorithm>
#include <utility>

#include "sim/scenario/json_text.h"

namespace sim::scenario {
namespace {

constexpr std::size_t width_max = 110;

bool is_plain(const Value& value) {
  const std::string& text = value.text;
  if (value.is_quoted || text.empty() || text.front() == ' ' || text.back() == ' ') return false;
  constexpr std::string_view no_beginning = "*&!%@|>?-";
  const bool is_number = text.size() > 1 && text.front() == '-' && text[1] != ' ';
  if (!is_number && no_beginning.find(text.front()) != std::string_view::npos) return false;
  return text.find_first_of("[]{},:#\"'`\\\n\t") == std::string::npos;
}

std::string one_line(const Value& value) {
  std::string text;
  switch (value.kind) {
    case Value::Kind::nothing:
      return "null";
    case Value::Kind::text:
      return is_plain(value) ? value.text : json_quoted(value.text);
    case Value::Kind::list:
      for (const Value& item : value.items) text += (text.empty() ? "" : ", ") + one_line(item);
      return "[" + text + "]";
    case Value::Kind::map:
      for (const Entry& entry : value.entries) {
        text += (text.empty() ? "" : ", ") + one_line(text_value(entry.key)) + ": " +
                one_line(entry.value);
      }
      return "{" + text + "}";
  }
  return text;
}

void write(const Value& map, std::size_t indent, std::string& out);

// A list of texts over as many lines as it needs, from column `used` on.
void write_texts(const Value& list, std::size_t indent, std::size_t used, std::string& out) {
  out += " [";
  used += 2;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const std::string text = one_line(list.items[i]) + (i + 1 < list.items.size() ? "," : "]");
    const bool is_first = i == 0;
    if (!is_first && used + 1 + text.size() > width_max) {
      out += "\n" + std::string(indent, ' ') + text;
      used = indent + text.size();
    } else {
      out += (is_first ? "" : " ") + text;
      used += text.size() + (is_first ? 0 : 1);
    }
  }
  out += "\n";
}

// What stands behind a key, from column `used` on to the end of its last line.
void write_value(const Value& value, std::size_t indent, std::size_t used, std::string& out) {
  const std::string line = one_line(value);
  const bool is_empty = value.items.empty() && value.entries.empty();
  if (is_empty || used + 1 + line.size() <= width_max) {
    out += " " + line + "\n";
    return;
  }
  if (std::all_of(value.items.begin(), value.items.end(),
                  [](const Value& item) { return item.kind == Value::Kind::text; }) &&
      value.kind == Value::Kind::list) {
    return write_texts(value, used + 2, used, out);
  }
  out += "\n";
  if (value.kind == Value::Kind::map) return write(value, indent + 2, out);
  for (const Value& item : value.items) {
    const std::size_t begin = out.size();
    if (item.kind == Value::Kind::map && indent + 4 + one_line(item).size() > width_max) {
      write(item, indent + 4, out);
    } else {
      out += std::string(indent + 4, ' ');
      out.pop_back();
      write_value(item, indent + 4, indent + 3, out);
    }
    out[begin + indent + 2] = '-';
  }
}

void write(const Value& map, std::size_t indent, std::string& out) {
  for (const Entry& entry : map.entries) {
    const std::string key = std::string(indent, ' ') + one_line(text_value(entry.key)) + ":";
    out += key;
    write_value(entry.value, indent, key.size(), out);
  }
}

}  // namespace

Value text_value(std::string text) {
  Value value;
  value.kind = Value::Kind::text;
  value.text = std::move(text);
  return value;
}

Value list_value(std::vector<Value> items) {
  Value value;
  value.kind = Value::Kind::list;
  value.items = std::move(items);
  return value;
}

Value& put(Value& map, const std::string& key, Value value) {
  map.kind = Value::Kind::map;
  if (Value* found = map.find(key)) return *found = std::move(value);
  map.entries.push_back({key, {}, nullptr, std::move(value)});
  return map.entries.back().value;
}

void remove(Value& map, const std::string& key) {
  std::erase_if(map.entries, [&](const Entry& entry) { return entry.key == key; });
}

std::string yaml_text(const Value& root) {
  std::string out;
  write(root, 0, out);
  return out;
}

}  // namespace sim::scenario
