// Kept replicas against the orbits of small trees of blocks, found by their canonical forms.
#include "sim/fold/replicas.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

using namespace sim::fold;

namespace {

struct Tree {
  Replica count, unit;
  std::vector<Replica> blocks;
  std::vector<Mark> marks;

  // Names of the marks that cover the replicas, and nothing else of them.
  std::string colour(Replica first, Replica last) const {
    std::string text;
    for (const Mark& m : marks) {
      if (m.first <= first && m.last >= last) text += "m" + std::to_string(m.label);
    }
    return text;
  }
  // Of a block with one replica pointed at (-1: none): equal forms, and only those, can be mapped
  // to each other. Members of a unit stay in order; children of a block may change places.
  std::string form(Replica first, Replica last, std::size_t level, Replica pointed) const {
    if (level == 0) {
      std::string text = "(";
      for (Replica r = first; r < last; ++r) {
        text += colour(r, r + 1) + (r == pointed ? "*" : "") + ",";
      }
      return text + ")";
    }
    const Replica step = level == 1 ? unit : blocks[level - 2];
    std::vector<std::string> children;
    for (Replica r = first; r < last; r += step) {
      children.push_back(form(r, std::min(r + step, last), level - 1, pointed));
    }
    std::sort(children.begin(), children.end());
    std::string text = "[";
    for (const std::string& child : children) text += child;
    return text + "]";
  }
  std::string orbit(Replica replica) const { return form(0, count, blocks.size() + 1, replica); }
};

Tree random_tree(std::mt19937_64& random) {
  const auto below = [&](Replica n) { return static_cast<Replica>(random() % std::uint64_t(n)); };
  Tree tree;
  tree.unit = 1 + below(2);
  Replica size = tree.unit;
  for (Replica level = below(3); level > 0; --level) {
    size *= 1 + below(4);
    tree.blocks.push_back(size);
  }
  tree.count = size * (1 + below(4));
  if (below(2) == 0 && tree.count > tree.unit)
    tree.count -= tree.unit * below(tree.count / tree.unit);
  for (Replica m = below(4); m > 0; --m) {
    const Replica at = below(tree.count), length = below(3) == 0 ? 1 + below(tree.count) : 1;
    tree.marks.push_back({at, std::min(at + length, tree.count), static_cast<std::int32_t>(m)});
  }
  return tree;
}

// visit(tree, its replicas) for so many trees.
template <class Visit>
void each_random_tree(unsigned count, Visit visit) {
  for (unsigned seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Tree tree = random_tree(random);
    visit(tree, Replicas(tree.count, tree.unit, tree.blocks, tree.marks));
  }
}

}  // namespace

TEST_CASE("replicas: 64 in blocks of 16, one marked -> it, one beside it, one elsewhere") {
  const Replicas replicas(64, 1, {16}, {{20, 21, 0}});
  CHECK(std::vector<Replica>(replicas.kept().begin(), replicas.kept().end()) ==
        std::vector<Replica>{0, 16, 20});
  // Of its block (level 1) and of all (level 2).
  CHECK(replicas.size(0, 1) == 16);
  CHECK(replicas.size(0, 2) == 48);
  CHECK(replicas.size(1, 1) == 15);
  CHECK(replicas.size(1, 2) == 15);
  CHECK(replicas.size(2, 1) == 1);
  CHECK(replicas.size(2, 2) == 1);
  // The next after 0 in its block, after 16 in its block, and after block 0.
  CHECK(std::vector<Replica>(replicas.neighbours().begin(), replicas.neighbours().end()) ==
        std::vector<Replica>{1, 17, 32});
}

TEST_CASE("replicas: a billion without marks -> one, in no time, and one neighbour a level") {
  const Replicas replicas(1 << 30, 1, {32, 1024}, {});
  CHECK(replicas.kept().size() == 1);
  CHECK(replicas.size(0, 3) == 1 << 30);
  CHECK(std::vector<Replica>(replicas.neighbours().begin(), replicas.neighbours().end()) ==
        std::vector<Replica>{1, 32, 1024});
}

TEST_CASE("replicas: 3,000 random trees -> never two of different orbits, sizes are the orbits'") {
  each_random_tree(3000, [](const Tree& tree, const Replicas& replicas) {
    std::map<std::string, std::int64_t> orbit_size;
    for (Replica r = 0; r < tree.count; ++r) ++orbit_size[tree.orbit(r)];
    // Each kept replica stands for replicas of its orbit only: what is kept of an orbit sums to it.
    std::map<std::string, std::int64_t> represented;
    const std::size_t all = replicas.levels();
    for (std::size_t i = 0; i < replicas.kept().size(); ++i) {
      represented[tree.orbit(replicas.kept()[i])] += replicas.size(i, all);
      REQUIRE(replicas.size(i, 0) == 1);
      REQUIRE(replicas.index_of(replicas.kept()[i]) == static_cast<std::int64_t>(i));
    }
    REQUIRE(represented == orbit_size);
  });
}

TEST_CASE("replicas: sizes inside a block sum to the block, for every block that is kept") {
  each_random_tree(1000, [](const Tree& tree, const Replicas& replicas) {
    for (std::size_t level = 1; level <= tree.blocks.size(); ++level) {
      const Replica block = tree.blocks[level - 1];
      std::map<Replica, std::int64_t> sums;
      for (std::size_t i = 0; i < replicas.kept().size(); ++i) {
        sums[replicas.kept()[i] / block] += replicas.size(i, level);
      }
      for (const auto& [index, sum] : sums) {
        REQUIRE(sum == std::min(block, tree.count - index * block));
        REQUIRE(replicas.keeps_any(index * block, (index + 1) * block));
      }
    }
  });
}

TEST_CASE("replicas: where a block's children stand for each other, a second one is named") {
  each_random_tree(1000, [](const Tree& tree, const Replicas& replicas) {
    std::set<Replica> listed(replicas.kept().begin(), replicas.kept().end());
    listed.insert(replicas.neighbours().begin(), replicas.neighbours().end());
    std::vector<Replica> sizes = {tree.unit};
    sizes.insert(sizes.end(), tree.blocks.begin(), tree.blocks.end());
    sizes.push_back(tree.count);
    for (std::size_t level = 1; level < sizes.size(); ++level) {
      for (Replica first = 0; first < tree.count; first += sizes[level]) {
        const Replica last = std::min(first + sizes[level], tree.count);
        if (!replicas.keeps_any(first, last)) continue;
        std::set<Replica> children;
        for (const Replica r : listed) {
          if (r >= first && r < last) children.insert((r - first) / sizes[level - 1]);
        }
        const Replica there = (last - first + sizes[level - 1] - 1) / sizes[level - 1];
        REQUIRE(static_cast<Replica>(children.size()) >= std::min<Replica>(2, there));
      }
    }
  });
}
