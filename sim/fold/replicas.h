// Which of many replicas that nothing tells apart are simulated, and how many each stands for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sim::fold {

using Replica = std::int64_t;

// Replicas [first, last) that differ from the others, in the same way.
struct Mark {
  Replica first = 0, last = 0;
  std::int32_t label = 0;
};

// Replicas 0 .. count - 1 lie in nested blocks (hosts under one leaf, leaves of a pod). Blocks of
// one size look alike, and so do the replicas of a block, in whatever order: exchanging blocks, and
// replicas inside a block, changes nothing as long as it maps marks to marks with the same label.
// Of all replicas that can be exchanged, the lowest is kept.
class Replicas {
 public:
  // All are kept, each stands for itself.
  static Replicas all(Replica count);
  // `kept`, ascending, each standing for `sizes` of all.
  Replicas(Replica count, std::vector<Replica> kept, const std::vector<std::int64_t>& sizes);
  // `unit`: that many replicas in a row are kept or left together, each for itself (those of one
  // host). `blocks`: sizes of the nested blocks in replicas, ascending, each a multiple of the unit
  // and of the one before; a last block may be incomplete.
  // REQUIRES: unit divides count. Time and memory follow the marks, not the count.
  Replicas(Replica count, Replica unit, std::vector<Replica> blocks, std::vector<Mark> marks);

  Replica count() const { return count_; }
  bool are_all_kept() const { return kept_count() == count_; }
  Replica kept_count() const { return static_cast<Replica>(kept_.size()); }
  std::span<const Replica> kept() const { return kept_; }  // ascending
  // Not kept, but needed to see what goes from one to the next: wherever a replica or block stands
  // for others, the next of those. Ascending.
  std::span<const Replica> neighbours() const { return neighbours_; }
  // Index in kept(); -1: not kept.
  std::int64_t index_of(Replica replica) const;
  // Whether a kept replica is in [first, last).
  bool keeps_any(Replica first, Replica last) const;

  // Of kept replica `index`: for how many of its block it stands. Level 0: itself, 1; level i:
  // block i - 1 of the list; the last level, levels(): all replicas.
  std::int64_t size(std::size_t index, std::size_t level) const {
    return sizes_[index * (levels_ + 1) + level];
  }
  std::size_t levels() const { return levels_; }

 private:
  struct Node;
  void visit(const Node& node);
  void keep(const Node& node);

  Replica count_ = 0, unit_ = 1;
  std::size_t levels_ = 1;  // blocks, and all
  std::vector<Replica> blocks_;
  std::vector<Replica> kept_, neighbours_;
  std::vector<std::int64_t> sizes_;  // [kept][level]
};

}  // namespace sim::fold
