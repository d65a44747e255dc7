// Kept replicas of repeating kinds against a look at every replica.
#include "sim/fold/periodic.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace sim::fold;

namespace {

struct Row {
  Replica count, unit;
  std::vector<std::int32_t> kinds;
  std::vector<Mark> marks;

  // What the class of a replica is, in words.
  std::string class_of(Replica replica) const {
    const Replica number = replica / unit, first = number * unit;
    const Replica last = std::min(first + unit, count);
    std::string text = std::to_string(replica % unit) + " of kind " +
                       std::to_string(kinds[static_cast<std::size_t>(number) % kinds.size()]);
    if (last < first + unit) return text + " incomplete";
    for (const Mark& mark : marks) {
      if (mark.first <= first && mark.last >= last) {
        text += " in " + std::to_string(mark.label);
      } else if (mark.first < last && mark.last > first) {
        return text + " alone at " + std::to_string(number);
      }
    }
    return text;
  }
};

Row random_row(std::mt19937_64& random) {
  const auto below = [&](Replica n) { return static_cast<Replica>(random() % std::uint64_t(n)); };
  Row row;
  row.unit = 1 + below(3);
  row.count = 1 + below(60);
  const Replica period = 1 + below(6);
  for (Replica i = 0; i < period; ++i) row.kinds.push_back(static_cast<std::int32_t>(below(3)));
  for (Replica m = below(4); m > 0; --m) {
    const Replica at = below(row.count), length = below(3) == 0 ? 1 + below(row.count) : 1;
    row.marks.push_back({at, std::min(at + length, row.count), static_cast<std::int32_t>(m)});
  }
  return row;
}

}  // namespace

TEST_CASE("periodic replicas: 3,000 random rows -> the lowest of each class, and its numbers") {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Row row = random_row(random);
    const PeriodicReplicas replicas(row.count, row.unit, row.kinds, row.marks);
    std::map<std::string, std::vector<Replica>> classes;
    for (Replica r = 0; r < row.count; ++r) classes[row.class_of(r)].push_back(r);
    const Replicas kept = replicas.kept();
    REQUIRE(kept.kept().size() == classes.size());
    const Replica first = static_cast<Replica>(random() % 60), last = first + 7;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const std::vector<Replica>& members = classes.at(row.class_of(kept.kept()[i]));
      REQUIRE(members.front() == kept.kept()[i]);
      REQUIRE(kept.size(i, kept.levels()) == static_cast<std::int64_t>(members.size()));
      REQUIRE(replicas.count_in(i, first, last) ==
              std::count_if(members.begin(), members.end(),
                            [&](Replica r) { return r >= first && r < last; }));
      for (const Replica r : members) {
        const Replica number = r / row.unit;
        const auto sections = replicas.sections_of(i);
        REQUIRE(std::any_of(sections.begin(), sections.end(), [&](const auto& section) {
          return section.first <= number && number < section.last;
        }));
      }
    }
  }
}

TEST_CASE("periodic replicas: a billion, every third cut by a border -> two, in no time") {
  const PeriodicReplicas replicas(1 << 30, 1, {0, 0, 1}, {});
  const Replicas kept = replicas.kept();
  CHECK(std::vector<Replica>(kept.kept().begin(), kept.kept().end()) == std::vector<Replica>{0, 2});
  // 2^30 = 3 x 357,913,941 + 1: the last is as the first.
  CHECK(kept.size(0, 1) == 2 * 357'913'941 + 1);
  CHECK(kept.size(1, 1) == 357'913'941);
  CHECK(replicas.count_in(1, 3, 9) == 2);
}
