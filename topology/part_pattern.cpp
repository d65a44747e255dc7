// Reads patterns of part names and compares names with them.
#include "topology/part_pattern.h"

#include <algorithm>
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

namespace {

using Numbers = PartPattern::Numbers;

// What a pattern asks of the digits of a number: that with `before` in front and `prefix` taken
// away they are a number of `open`; without `open`, that they are the prefix.
struct Digits {
  std::uint64_t before = 0;
  std::string_view prefix;
  std::optional<Numbers> open;
};

std::string_view digits_at_start(std::string_view text) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
}

std::uint64_t power_of_ten(std::size_t exponent) {
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

Numbers with_length(std::size_t length) {
  return {length == 1 ? 0 : power_of_ten(length - 1), power_of_ten(length) - 1};
}

std::optional<Numbers> common(Numbers a, Numbers b) {
  const Numbers result{std::max(a.first, b.first), std::min(a.last, b.last)};
  return result.first <= result.last ? std::optional(result) : std::nullopt;
}

// Numbers of `length` digits that fit. None where a product passes 64 bits: names have no such
// numbers.
std::optional<Numbers> of_length(const Digits& digits, std::size_t length) {
  if (!digits.prefix.empty()) {
    const auto prefix = number_at_start(digits.prefix);
    if (!prefix || digits.prefix.size() > length) return std::nullopt;
    const std::size_t rest = length - digits.prefix.size();
    if (rest == 0 && !digits.open) return Numbers{prefix->value, prefix->value};
    if (rest == 0 || !digits.open) return std::nullopt;
    const auto open = common(*digits.open, with_length(rest));
    if (!open) return std::nullopt;
    const std::uint64_t first = prefix->value * power_of_ten(rest);
    return common({first + open->first, first + open->last}, with_length(length));
  }
  if (digits.before > std::numeric_limits<std::uint64_t>::max() / power_of_ten(length)) {
    return std::nullopt;
  }
  const Numbers open = digits.open.value();
  const std::uint64_t before = digits.before * power_of_ten(length);
  if (open.last < before) return std::nullopt;
  return common({open.first > before ? open.first - before : 0, open.last - before},
                with_length(length));
}

}  // namespace

std::vector<Numbers> PartPattern::numbers_after(std::string_view stem, std::int64_t begin,
                                                std::int64_t end) const {
  if (!is_valid_ || begin >= end) return {};
  const Numbers all{static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end) - 1};
  Digits digits;
  bool is_reached = false;  // the number after the stem
  for (std::size_t t = 0; t < tokens_.size() && !is_reached; ++t) {
    if (const auto* literal = std::get_if<std::string>(&tokens_[t])) {
      if (stem.starts_with(*literal)) {
        stem.remove_prefix(literal->size());
        continue;
      }
      if (!literal->starts_with(stem)) return {};
      const std::string_view rest = std::string_view(*literal).substr(stem.size());
      digits.prefix = digits_at_start(rest);
      if (digits.prefix.empty()) return {};
      const bool is_open = digits.prefix.size() == rest.size() && t + 1 < tokens_.size();
      if (is_open) digits.open = std::get<Numbers>(tokens_[t + 1]);
      is_reached = true;
      continue;
    }
    const Numbers numbers = std::get<Numbers>(tokens_[t]);
    const std::string_view own = digits_at_start(stem);
    const auto number = own.empty() ? std::nullopt : number_at_start(own);
    if (!own.empty() && !number) return {};
    if (own.size() == stem.size()) {
      digits.before = number ? number->value : 0;
      digits.open = numbers;
      is_reached = true;
    } else {
      if (!number || number->value < numbers.first || number->value > numbers.last) return {};
      stem.remove_prefix(own.size());
    }
  }
  if (!is_reached) {
    // The pattern ends inside the stem.
    if (stem.empty() || stem.front() != '.') return {};
    return {all};
  }
  std::vector<Numbers> result;
  constexpr std::size_t length_max = 18;  // 10^18 fits into 64 bits
  std::uint64_t shortest = 1;             // with so many digits
  for (std::size_t length = 1; length <= length_max && shortest <= all.last + 1; ++length) {
    const auto range = of_length(digits, length);
    if (range && range->first <= all.last && range->last >= all.first) {
      result.push_back({std::max(range->first, all.first), std::min(range->last, all.last)});
    }
    shortest *= 10;
  }
  return result;
}

}  // namespace topology
