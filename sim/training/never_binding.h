// Resources that cannot saturate couple nothing and need not be shared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/system.h"

namespace sim::training {

// [resource] whether its capacity may matter: what could be held of it at once, or come through it
// (`most_through`; none: unknown), exceeds its lowest capacity over time; or it is reserved.
std::vector<char> may_bind(const network::System& system,
                           std::span<const std::int64_t> most_through = {});

// Takes the other resources out of all footprints. Changes no rate. Observed ones stay, passive.
void drop_never_binding(network::System& system, std::span<const std::int64_t> most_through = {});

}  // namespace sim::training
