// Counts, numbers, flags, text and values with units.
#include "sim/scenario/kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/scenario/encoding.h"

namespace sim::scenario {
namespace {

bool is_all_digits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char letter) { return letter >= '0' && letter <= '9'; });
}

bool is_plain_text(const Value& value) {
  return value.kind == Value::Kind::text && !value.is_quoted;
}

// "8.0", "1e3" and "1_000" mean a count and have one; "8 GPUs" begins with one.
std::string count_hint(const Value& value) {
  if (value.kind != Value::Kind::text) return "";
  if (value.is_quoted && is_all_digits(value.text))
    return fmt::format("write {} without quotes", value.text);
  std::string digits = value.text;
  std::erase_if(digits, [](char letter) { return letter == '_' || letter == ','; });
  double number = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (status != std::errc() || number < 0 || number > 9e15) return "";
  const std::string_view rest(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
  if (number != std::floor(number) || (!rest.empty() && rest.front() != ' ')) return "";
  return fmt::format("write {:.0f}: counts are plain numbers", number);
}

template <class T>
Kind<T> count_kind(T least, T most) {
  return {
      [least, most] {
        return fmt::format("{{\"type\":\"integer\",\"minimum\":{},\"maximum\":{}}}", least, most);
      },
      [least, most](Reader& reader, const Value& value,
                    const std::string& path) -> std::optional<T> {
        const std::string& text = value.text;
        const bool is_negative = text.size() > 1 && text[0] == '-' && is_all_digits(text.substr(1));
        if (!is_plain_text(value) || (!is_all_digits(text) && !is_negative)) {
          report_shape(reader, value, path, "a whole number", count_hint(value));
          return std::nullopt;
        }
        if (text.size() > 1 && text[0] == '0') {
          report_shape(reader, value, path, "a whole number", "leave out leading zeros");
          return std::nullopt;
        }
        std::int64_t found = 0;
        const auto status = std::from_chars(text.data(), text.data() + text.size(), found).ec;
        if (is_negative || (status == std::errc() && found < least)) {
          reader.error(path, value.place(),
                       fmt::format("{} for {} is less than {}", shown(text), path, least));
          return std::nullopt;
        }
        if (status != std::errc() || found > most) {
          reader.error(path, value.place(),
                       fmt::format("{} for {} is more than {}", shown(text), path, most));
          return std::nullopt;
        }
        return static_cast<T>(found);
      }};
}

}  // namespace

Kind<std::int64_t> count(std::int64_t least, std::int64_t most) { return count_kind(least, most); }
Kind<int> small_count(int least, int most) { return count_kind(least, most); }

Kind<double> number(double least, double most) {
  return {[least, most] {
            return fmt::format("{{\"type\":\"number\",\"minimum\":{},\"maximum\":{}}}", least,
                               most);
          },
          [least, most](Reader& reader, const Value& value,
                        const std::string& path) -> std::optional<double> {
            // A count with an optional unit has the same grammar: digits, fraction, exponent.
            std::variant<double, UnitError> found = UnitError{};
            if (is_plain_text(value) && value.text.find(' ') == std::string::npos) {
              found = parse_value(value.text, Dimension::count_text);
            }
            const double* number = std::get_if<double>(&found);
            if (number == nullptr) {
              report_shape(reader, value, path, "a plain number");
              return std::nullopt;
            }
            if (*number < least || *number > most) {
              reader.error(path, value.place(),
                           fmt::format("{} for {} is not between {} and {}", shown(value.text),
                                       path, least, most));
              return std::nullopt;
            }
            return *number;
          }};
}

Kind<bool> flag() {
  return {[] { return R"({"type":"boolean"})"; },
          [](Reader& reader, const Value& value, const std::string& path) -> std::optional<bool> {
            if (is_plain_text(value) && value.text == "true") return true;
            if (is_plain_text(value) && value.text == "false") return false;
            std::string lower = value.text;
            std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
              return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
            });
            std::string hint;
            for (const char* yes : {"true", "yes", "on", "1"}) {
              if (lower == yes) hint = "write true";
            }
            for (const char* no : {"false", "no", "off", "0"}) {
              if (lower == no) hint = "write false";
            }
            report_shape(reader, value, path, "true or false", hint);
            return std::nullopt;
          }};
}

Kind<std::string> text() {
  return {[] { return R"({"type":["string","number","boolean"],"minLength":1})"; },
          [](Reader& reader, const Value& value,
             const std::string& path) -> std::optional<std::string> {
            if (value.kind != Value::Kind::text || value.text.empty()) {
              report_shape(reader, value, path, "text");
              return std::nullopt;
            }
            std::string line = value.text;
            while (!line.empty() && line.back() == '\n') line.pop_back();
            const bool has_control = std::any_of(line.begin(), line.end(), [](char letter) {
              return static_cast<unsigned char>(letter) < 0x20;
            });
            if (has_control || line.size() > 1000) {
              reader.error(
                  path, value.place(),
                  fmt::format("the text for {} is not one line of at most 1000 bytes", path));
              return std::nullopt;
            }
            return line;
          }};
}

namespace kinds {

std::optional<double> read_measure(Reader& reader, const Value& value, const std::string& path,
                                   Dimension dimension, Zero zero, double most) {
  const std::string wanted =
      fmt::format("a value with its unit ({})", fmt::join(unit_names(dimension), ", "));
  if (value.kind != Value::Kind::text) {
    report_shape(reader, value, path, wanted);
    return std::nullopt;
  }
  const auto parsed = parse_value(value.text, dimension);
  if (const UnitError* error = std::get_if<UnitError>(&parsed)) {
    reader.error(path, value.place(), fmt::format("{} for {}", error->message, path), error->why,
                 error->hint);
    return std::nullopt;
  }
  const double found = std::get<double>(parsed);
  if (found == 0 && zero == Zero::refused) {
    reader.error(path, value.place(),
                 fmt::format("'{}' for {} is not more than zero", shown(value.text), path));
    return std::nullopt;
  }
  if (found > most) {
    std::string limit = fmt::format("{:g}", most);
    if (dimension == Dimension::time) limit = to_text(Seconds(most));
    if (dimension == Dimension::byte_rate) limit = to_text(BytesPerSecond(most));
    if (dimension == Dimension::bytes) limit = to_text(Bytes(most));
    if (dimension == Dimension::percent) limit = fmt::format("{:g} %", most * 100);
    reader.error(path, value.place(),
                 fmt::format("'{}' for {} is more than {}", shown(value.text), path, limit));
    return std::nullopt;
  }
  return found;
}

}  // namespace kinds

Kind<double> measure(Dimension dimension, Zero zero, double most) {
  return {[dimension] {
            const bool is_plain = std::holds_alternative<double>(parse_value("1", dimension));
            return fmt::format("{{\"type\":{},\"pattern\":{}}}",
                               is_plain ? R"(["string","number"])" : R"("string")",
                               json_quoted(value_pattern(dimension)));
          },
          [dimension, zero, most](Reader& reader, const Value& value, const std::string& path) {
            return kinds::read_measure(reader, value, path, dimension, zero, most);
          }};
}

}  // namespace sim::scenario
