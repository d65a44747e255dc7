// Reads patterns of part names and compares names with them.
#include "topology/part_pattern.h"

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace topology {

namespace {

constexpr std::size_t npos = std::string_view::npos;

// The number at the start of a text and its length. Numbers in names have no leading zeros.
struct Number {
  std::uint64_t value = 0;
  std::size_t length = 0;
};
std::optional<Number> number_at_start(std::string_view text) {
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error != std::errc()) return std::nullopt;
  number.length = static_cast<std::size_t>(end - text.data());
  if (text.front() == '0' && number.length > 1) return std::nullopt;
  return number;
}

// "0..3"
std::optional<std::pair<std::uint64_t, std::uint64_t>> range_of(std::string_view text) {
  const auto first = number_at_start(text);
  if (!first || text.substr(first->length, 2) != "..") return std::nullopt;
  const std::string_view rest = text.substr(first->length + 2);
  const auto last = number_at_start(rest);
  if (!last || last->length != rest.size() || first->value > last->value) return std::nullopt;
  return std::pair(first->value, last->value);
}

}  // namespace

PartPattern::PartPattern(std::string_view text) {
  constexpr Numbers all{0, std::numeric_limits<std::uint64_t>::max()};
  is_valid_ = !text.empty();
  while (is_valid_ && !text.empty()) {
    const std::size_t special = text.find_first_of("*[]");
    if (special > 0) tokens_.push_back(std::string(text.substr(0, special)));
    if (special == npos) return;
    if (text[special] == '*') {
      tokens_.push_back(all);
      text.remove_prefix(special + 1);
      continue;
    }
    const std::size_t close = text.find(']', special);
    is_valid_ = text[special] == '[' && close != npos;
    if (!is_valid_) return;
    const std::string_view inside = text.substr(special + 1, close - special - 1);
    text.remove_prefix(close + 1);
    const auto first = number_at_start(inside);
    if (inside == "*") {
      tokens_.push_back(all);
    } else if (first && first->length == inside.size()) {
      tokens_.push_back(Numbers{first->value, first->value});
    } else {
      const auto range = range_of(inside);
      is_valid_ = range.has_value();
      if (range) tokens_.push_back(Numbers{range->first, range->second});
    }
  }
}

std::size_t PartPattern::matched(std::string_view name) const {
  if (!is_valid_) return npos;
  std::size_t at = 0;
  for (const auto& token : tokens_) {
    const std::string_view rest = name.substr(at);
    if (const auto* literal = std::get_if<std::string>(&token)) {
      if (!rest.starts_with(*literal)) return npos;
      at += literal->size();
      continue;
    }
    const Numbers numbers = std::get<Numbers>(token);
    const auto number = rest.empty() ? std::nullopt : number_at_start(rest);
    if (!number || number->value < numbers.first || number->value > numbers.last) return npos;
    at += number->length;
  }
  return at;
}

bool PartPattern::matches_part_of(std::string_view name) const {
  const std::size_t covered = matched(name);
  return covered != npos && (covered == name.size() || name[covered] == '.');
}

}  // namespace topology
