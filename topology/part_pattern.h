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
  // A text that is no pattern ("h[3", "h[4..2]") matches nothing.
  explicit PartPattern(std::string_view text);

  bool matches(std::string_view name) const { return matched(name) == name.size(); }
  // Also true for the parts of a part: "h0" stands for "h0.gpu1".
  bool matches_part_of(std::string_view name) const;

 private:
  struct Numbers {
    std::uint64_t first, last;
  };
  // Returns how many characters of the name the whole pattern covers; npos if it does not fit.
  std::size_t matched(std::string_view name) const;

  bool is_valid_ = true;
  std::vector<std::variant<std::string, Numbers>> tokens_;
};

}  // namespace topology
