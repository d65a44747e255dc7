// Replicas whose kinds repeat along their numbers: which are simulated, and how many each stands
// for.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/fold/replicas.h"

namespace sim::fold {

// Replicas 0 .. count - 1 come in units of so many in a row, the last one maybe incomplete. Units
// of one kind that lie in the same marks do the same; of each such class the lowest unit is kept,
// all of its replicas, each standing for those in the same place of the class's units. A unit that
// a mark covers in part, or that is incomplete, is a class by itself.
class PeriodicReplicas {
 public:
  // Units between two borders, which lie in the same marks.
  struct Section {
    Replica first = 0, last = 0;  // units
    std::int32_t cover = 0;       // equal where the marks are
  };

  // `kinds[i]`: of the units i, i + kinds.size(), ... Time and memory follow kinds and marks, not
  // the count.
  PeriodicReplicas(Replica count, Replica unit, std::vector<std::int32_t> kinds,
                   std::span<const Mark> marks);

  Replica unit() const { return unit_; }
  Replica period() const { return static_cast<Replica>(kinds_.size()); }  // in units
  std::int32_t kind(Replica number) const {
    return kinds_[static_cast<std::size_t>(number % period())];
  }
  std::span<const Section> sections() const { return sections_; }  // ascending, without gaps
  Replicas kept() const;
  // Of kept replica `index`: how many of [first, last) it stands for; and all sections in which
  // there are any, ascending.
  std::int64_t count_in(std::size_t index, Replica first, Replica last) const;
  std::span<const Section> sections_of(std::size_t index) const;

 private:
  struct Class {
    std::int32_t kind = 0;
    std::vector<Section> sections;
  };
  struct Kept {
    Replica replica = 0;
    std::size_t unit_class = 0;
  };
  void cut(std::span<const Mark> marks);
  void classify();
  Replica units_before(std::int32_t kind, Replica end) const;
  Replica first_from(std::int32_t kind, Replica begin) const;

  Replica count_ = 0, unit_ = 1;
  std::vector<std::int32_t> kinds_;
  std::map<std::int32_t, std::vector<Replica>> places_;  // [kind] in the period, ascending
  std::vector<Section> sections_;
  std::vector<Class> classes_;
  std::vector<Kept> kept_;  // ascending
};

}  // namespace sim::fold
