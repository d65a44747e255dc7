// Names of parts with numbers left open: "h[0..3].nic2", "leaf*".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace topology {

class PartPattern {
 public:
  struct Numbers {
    std::uint64_t first, last;
  };

  // A text that is no pattern ("h[3", "h[4..2]") matches nothing.
  explicit PartPattern(std::string_view text);

  bool matches(std::string_view name) const { return matched(name) == name.size(); }
  // Also true for the parts of a part: "h0" stands for "h0.gpu1".
  bool matches_part_of(std::string_view name) const;

  // Ranges, ascending, of numbers from `begin`, before `end`. They hold every n for which the
  // pattern may match a name that starts with `stem` + n, or a part of it, and few others. Worked:
  // "h1[0..3]" after "h": 10..13; after "h1": 0..3; after "h1.gpu": none.
  std::vector<Numbers> numbers_after(std::string_view stem, std::int64_t begin,
                                     std::int64_t end) const;

  // Calls with each of those numbers.
  template <class Function>
  void each_number(std::string_view stem, std::int64_t begin, std::int64_t end,
                   Function&& call) const {
    for (const Numbers& range : numbers_after(stem, begin, end)) {
      for (std::uint64_t n = range.first; n <= range.last; ++n) call(static_cast<std::int64_t>(n));
    }
  }

 private:
  // Returns how many characters of the name the whole pattern covers; npos if it does not fit.
  std::size_t matched(std::string_view name) const;

  bool is_valid_ = true;
  std::vector<std::variant<std::string, Numbers>> tokens_;
};

}  // namespace topology
