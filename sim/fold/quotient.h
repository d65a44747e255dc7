// A system in which each stream and resource stands for all that provably do the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/fold/partition.h"
#include "sim/fold/shape.h"
#include "sim/network/system.h"

namespace sim::fold {

struct Lumping {
  std::vector<Class> class_of_stream, class_of_resource;  // passive resources: -1
  std::vector<std::int32_t> stream, resource;             // [class] the lowest member
};

// Streams of a class run the same program, wait slot by slot for the same set of classes, and use
// footprint by footprint the same set of resource classes; resources of a class have the same
// capacity and carry the same from each class of streams. Then all members of a class do the same
// at every instant (conditions C0 to C4; docs/decisions/0015).
// `start`: a lumping that is only split further; null: from scratch.
Lumping lump(const network::System& system, const Shape& shape,
             std::span<const std::int64_t> capacity, const Lumping* start = nullptr,
             int hash_bits = 64);

// Whether any two streams run programs that do the same. If not, lumping is of little use.
bool may_fold(const network::System& system, const Shape& shape);

// One stream and resource a class. REQUIRES: the lumping is of this system and these capacities.
network::System quotient(const network::System& system, const Shape& shape,
                         std::span<const std::int64_t> capacity, const Lumping& lumping);

}  // namespace sim::fold
