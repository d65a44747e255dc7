// Reading values with units. The tables of units are in unit_table.cpp.
#include "sim/base/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "sim/base/diagnostics.h"
#include "sim/base/unit_table.h"

namespace sim {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

// Length of the number at the beginning: digits, fraction, exponent. 0: none.
std::size_t number_length(std::string_view text) {
  std::size_t at = skip_digits(text, 0);
  if (at == 0) return 0;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    at = skip_digits(text, at + 1);
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t sign = at + 1;
    if (sign < text.size() && (text[sign] == '+' || text[sign] == '-')) ++sign;
    if (sign < text.size() && is_digit(text[sign])) at = skip_digits(text, sign);
  }
  return at;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string example(Dimension dimension) {
  return fmt::format("write a number, a space and a unit, such as '{}'",
                     units_of(dimension).example);
}

std::string list_of_units(Dimension dimension) {
  return fmt::format("units of {}: {}", units_of(dimension).noun, joined(unit_names(dimension)));
}

// "write '400 Gbit/s' (50 GB/s) or '400 GB/s'": bits are shown in bytes too, to make the eight
// visible.
std::string offer(std::string_view number, double value, const std::vector<std::string>& names,
                  Dimension dimension) {
  std::string text = "write ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}'{} {}'", i == 0 ? "" : " or ", number, names[i]);
    if (dimension == Dimension::byte_rate && names[i].find("bit") != std::string::npos) {
      const Unit* unit = find_unit(names[i], dimension);
      text += fmt::format(" ({})", to_text(BytesPerSecond(value * unit->times / unit->over)));
    }
  }
  return text;
}

UnitError no_number(std::string_view text, Dimension dimension) {
  const std::string quoted(text.substr(0, 60));
  if (text.empty()) return {"empty value", "", example(dimension)};
  const bool is_signed = text.front() == '-' && number_length(text.substr(1)) > 0;
  if (is_signed) return {fmt::format("negative value '{}'", quoted), "", ""};
  std::string_view bare = text.front() == '+' || text.front() == '-' ? text.substr(1) : text;
  for (const char* word : {"inf", ".inf", "infinity"}) {
    const std::string first(bare.substr(0, bare.find(' ')));
    if (edit_distance(first, word) == 0) {
      return {fmt::format("infinite value '{}'", quoted), "every value is finite", ""};
    }
  }
  if (text.front() == '.' && text.size() > 1 && is_digit(text[1])) {
    return {fmt::format("no number in '{}'", quoted), "", fmt::format("write '0{}'", quoted)};
  }
  return {fmt::format("no number in '{}'", quoted), "", example(dimension)};
}

UnitError missing_unit(std::string_view number, double value, Dimension dimension) {
  if (dimension == Dimension::percent) {
    const double percent = value <= 1 ? value * 100 : value;
    return {fmt::format("missing unit in '{}'", number), "every physical value carries its unit",
            fmt::format("write '{:.6g} %'", percent)};
  }
  return {fmt::format("missing unit in '{}'", number), "every physical value carries its unit",
          fmt::format("{}, such as '{} {}'", list_of_units(dimension), number,
                      units_of(dimension).usual)};
}

// The dimension other than this one that has the unit.
const DimensionUnits* other_owner(std::string_view unit, Dimension dimension) {
  for (const DimensionUnits& other : all_units()) {
    if (other.dimension != dimension && find_unit(unit, other.dimension) != nullptr) return &other;
  }
  return nullptr;
}

UnitError unknown_unit(std::string_view number, double value, std::string_view unit,
                       Dimension dimension) {
  const std::string message = fmt::format("unknown unit '{}'", unit.substr(0, 60));
  if (const Misspelling* known = find_misspelling(unit, dimension)) {
    return {message, known->why, offer(number, value, known->meant, dimension)};
  }
  if (const DimensionUnits* other = other_owner(unit, dimension)) {
    return {
        fmt::format("unit '{}' of {} instead of {}", unit, other->noun, units_of(dimension).noun),
        "", list_of_units(dimension)};
  }
  if (!unit.empty() && is_digit(unit.front())) {
    return {fmt::format("two numbers in '{} {}'", number, unit.substr(0, 60)), "",
            example(dimension)};
  }
  if (const auto near = nearest(unit, unit_names(dimension))) {
    return {message, "", offer(number, value, {*near}, dimension)};
  }
  return {message, "", list_of_units(dimension)};
}

// Text directly after the number, without a space.
UnitError glued(std::string_view text, std::size_t length, double value, Dimension dimension) {
  const std::string_view number = text.substr(0, length), rest = text.substr(length);
  if (rest.front() == ',' || rest.front() == '_' || rest.front() == '\'') {
    return {fmt::format("no number in '{}'", text.substr(0, 60)),
            "digits are written without separators", example(dimension)};
  }
  if (find_unit(rest, dimension) != nullptr) {
    return {fmt::format("no space between number and unit in '{}'", text), "",
            fmt::format("write '{} {}'", number, rest)};
  }
  if (rest.front() == '.' || rest.front() == '-' || rest.front() == '+') {
    return {fmt::format("no number in '{}'", text.substr(0, 60)), "", example(dimension)};
  }
  return unknown_unit(number, value, rest, dimension);
}

}  // namespace

std::variant<double, UnitError> parse_value(std::string_view text, Dimension dimension) {
  text = trimmed(text);
  const std::size_t length = number_length(text);
  if (length == 0) return no_number(text, dimension);
  const std::string_view number = text.substr(0, length);
  double value = 0;
  const auto [end, status] = std::from_chars(number.data(), number.data() + length, value);
  if (status != std::errc() || end != number.data() + length) {
    return UnitError{fmt::format("value out of range '{}'", text.substr(0, 60)), "", ""};
  }
  const DimensionUnits& units = units_of(dimension);
  if (length == text.size()) {
    if (units.is_optional) return value;
    return missing_unit(number, value, dimension);
  }
  if (text[length] != ' ' && text[length] != '\t') return glued(text, length, value, dimension);
  const std::string_view name = trimmed(text.substr(length));
  const Unit* unit = find_unit(name, dimension);
  if (unit == nullptr) return unknown_unit(number, value, name, dimension);
  const double result = value * unit->times / unit->over;
  if (!std::isfinite(result)) {
    return UnitError{fmt::format("value out of range '{}'", text.substr(0, 60)), "", ""};
  }
  return result;
}

std::vector<std::string> unit_names(Dimension dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : units_of(dimension).units) names.push_back(unit.name);
  return names;
}

std::string value_pattern(Dimension dimension) {
  const DimensionUnits& units = units_of(dimension);
  return fmt::format("^[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?{}[ \\t]+({}){}$",
                     units.is_optional ? "(" : "", fmt::join(unit_names(dimension), "|"),
                     units.is_optional ? ")?" : "");
}

}  // namespace sim
