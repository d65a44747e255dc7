// What the ranks of each host keep in its memory.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sim/plan/memory.h"
#include "sim/training/job.h"

namespace sim::training {

struct HostMemory {
  std::string host;
  Bytes capacity;
  int ranks = 0;
  plan::HostBytes used;  // of all of them
  bool fits() const { return used.total() <= capacity; }
};

// Of the host that is fullest, the first of equal ones; none where nothing is offloaded.
// `stages`: memory of a rank of each. REQUIRES: every host with a rank states its memory.
std::optional<HostMemory> fullest_host(const Job& job,
                                       std::span<const plan::MemoryBreakdown> stages);

}  // namespace sim::training
