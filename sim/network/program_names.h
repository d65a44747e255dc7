// What the steps of a program name.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/system.h"

namespace sim::network {

// Slots that are waited for, those of them with a wait that reserves, and footprints; ascending.
struct ProgramNames {
  std::vector<std::int32_t> slots, reserving, footprints;

  explicit ProgramNames(const Program& program);
};

}  // namespace sim::network
