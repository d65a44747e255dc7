// Finds switches and links between leaves by their names.
#include <fmt/format.h>

#include <algorithm>

#include "topology/fabric_layout.h"

namespace topology {

// Calls with candidates, a few more than the pattern names.
class FabricLayout::Search {
 public:
  Search(const FabricLayout& layout, const PartPattern& pattern)
      : layout_(layout), pattern_(pattern) {}

  template <class Function>
  void each_leaf(Function&& call) const {
    if (layout_.is_single_) return call(std::int64_t{0});
    pattern_.each_number("leaf", 0, layout_.leaves_, call);
  }

  // Spines, or the second tier of pods; numbered from the first.
  template <class Function>
  void each_second(Function&& call) const {
    if (!layout_.is_hashed_ && !layout_.has_pods()) {
      if (layout_.branches_ > 0) call(std::int64_t{0});
      return;
    }
    if (!layout_.has_pods()) return pattern_.each_number("spine", 0, layout_.branches_, call);
    pattern_.each_number("pod", 0, layout_.pods(), [&](std::int64_t pod) {
      if (!layout_.is_hashed_) return call(pod);
      pattern_.each_number(fmt::format("pod{}.agg", pod), 0, layout_.branches_,
                           [&](std::int64_t a) { call(pod * layout_.branches_ + a); });
    });
  }

  template <class Function>
  void each_core(Function&& call) const {
    const std::int64_t cores = layout_.branches_ * layout_.core_branches_;
    if (layout_.is_hashed_) return pattern_.each_number("core", 0, cores, call);
    if (cores > 0) call(std::int64_t{0});
  }

 private:
  const FabricLayout& layout_;
  const PartPattern& pattern_;
};

std::vector<std::int64_t> FabricLayout::switches_of_part(const PartPattern& pattern) const {
  std::vector<std::int64_t> result;
  const auto add_from = [&](std::int64_t first) {
    return [&, first](std::int64_t number) {
      if (pattern.matches_part_of(switch_name(first + number))) result.push_back(first + number);
    };
  };
  if (!exists()) return result;
  const Search search(*this, pattern);
  search.each_leaf(add_from(0));
  search.each_second(add_from(leaves_));
  search.each_core(add_from(leaves_ + second_tier()));
  return result;
}

// A name starts with the switch that the link leaves, or stands for both directions of a sprayed
// pair; then, where routing is hashed, follows the switch it leads to.
std::vector<std::int64_t> FabricLayout::links_named(const PartPattern& pattern) const {
  std::vector<std::int64_t> result;
  const auto add = [&](std::int64_t link) {
    if (pattern.matches_part_of(link_name(link))) result.push_back(link);
  };
  const auto add_both = [&](std::int64_t pair) {
    add(2 * pair);
    add(2 * pair + 1);
  };
  if (branches_ == 0) return result;
  const Search search(*this, pattern);
  if (!is_hashed_) {
    search.each_leaf(add_both);
    if (core_branches_ > 0) search.each_second([&](std::int64_t a) { add_both(leaf_pairs() + a); });
    return result;
  }
  search.each_leaf([&](std::int64_t leaf) {
    const std::string stem = switch_name(leaf) + (has_pods() ? ".agg" : ".spine");
    pattern.each_number(stem, 0, branches_,
                        [&](std::int64_t branch) { add(2 * leaf_pair(leaf, branch)); });
  });
  search.each_second([&](std::int64_t a) {
    const std::string name = switch_name(leaves_ + a) + ".";
    pattern.each_number(name + "leaf", first_leaf_below(a), end_leaf_below(a),
                        [&](std::int64_t leaf) { add(2 * leaf_pair(leaf, a % branches_) + 1); });
    const std::int64_t first = a % branches_ * core_branches_;
    pattern.each_number(name + "core", first, first + core_branches_,
                        [&](std::int64_t core) { add(2 * core_pair(0, a, core - first)); });
  });
  search.each_core([&](std::int64_t core) {
    const std::int64_t branch = core / core_branches_;
    pattern.each_number(
        switch_name(leaves_ + second_tier() + core) + ".pod", 0, pods(),
        [&](std::int64_t pod) { add(2 * core_pair(pod, branch, core % core_branches_) + 1); });
  });
  return result;
}

std::vector<std::int64_t> FabricLayout::links_at(std::int64_t number) const {
  std::vector<std::int64_t> result;
  const auto add = [&](std::int64_t pair) {
    result.push_back(2 * pair);
    result.push_back(2 * pair + 1);
  };
  if (number < leaves_) {
    for (std::int64_t b = 0; b < branches_; ++b) add(leaf_pair(number, b));
    return result;
  }
  number -= leaves_;
  if (number < second_tier()) {
    const std::int64_t end = end_leaf_below(number);
    for (std::int64_t leaf = first_leaf_below(number); leaf < end; ++leaf) {
      add(leaf_pair(leaf, number % branches_));
    }
    for (std::int64_t c = 0; c < core_branches_; ++c) add(core_pair(0, number, c));
    return result;
  }
  number -= second_tier();
  for (std::int64_t pod = 0; pod < pods(); ++pod) {
    add(core_pair(pod, number / core_branches_, number % core_branches_));
  }
  return result;
}

}  // namespace topology
