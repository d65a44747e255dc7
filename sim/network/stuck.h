// Why nothing goes on: the cycle of streams that wait for each other.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/network/system.h"

namespace sim::network {

// One line a stream: "rank 3 compute, at 'forward 2' waits for rank 2 send, which is at ...".
// `capacity[resource]` now, `position[stream]`: steps ended. REQUIRES: at least one stream has not
// ended.
std::string wait_cycle(const System& system, std::span<const std::int64_t> capacity,
                       std::span<const std::int32_t> position);

}  // namespace sim::network
