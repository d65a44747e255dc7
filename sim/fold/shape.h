// What lumping asks of a system's programs.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/program_names.h"

namespace sim::fold {

struct Shape {
  explicit Shape(const network::System& system);

  std::vector<std::uint32_t> program_number;  // [program] equal for those with the same figures
  std::vector<network::ProgramNames> names;   // [program]
};

}  // namespace sim::fold
