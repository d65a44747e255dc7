// What lumping asks of a system's programs.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/system.h"

namespace sim::fold {

// Which slots and footprints the steps of a program name; ascending.
struct ProgramNames {
  std::vector<std::int32_t> slots, reserving, footprints;

  explicit ProgramNames(const network::Program& program);
};

struct Shape {
  explicit Shape(const network::System& system);

  std::vector<std::uint32_t> program_number;  // [program] equal for those with the same figures
  std::vector<ProgramNames> names;            // [program]
};

}  // namespace sim::fold
