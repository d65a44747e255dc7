// Random systems that come to an end: an operation waits only for operations written before it.
#pragma once

#include <random>

#include "tests/sim/network/hand_system.h"

namespace sim::network {

inline HandSystem random_system(std::mt19937_64& random) {
  const auto below = [&random](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  HandSystem result;
  const std::int64_t resources = 1 + below(4), streams = 1 + below(8);
  for (std::int64_t r = 0; r < resources; ++r) {
    result.observe(result.resource("r" + std::to_string(r), 40 + below(60)));
  }
  for (std::int64_t s = 0; s < streams; ++s) result.stream("s" + std::to_string(s));
  for (std::int64_t i = below(40); i >= 0; --i) {
    // Few lengths, so that much ends at one instant.
    Operation o{.lag = below(3) == 0 ? below(4) * 100 : 0,
                .work = below(8) == 0 ? 0 : (1 + below(6)) * 250 + (below(5) == 0 ? below(99) : 0),
                .weight = weight_one * (1 + below(4)) / 2,
                .kind = static_cast<std::uint8_t>(below(4))};
    for (std::int64_t u = below(3); u > 0; --u) {
      o.uses.push_back({static_cast<std::int32_t>(below(std::uint64_t(resources))), below(50)});
    }
    for (std::int64_t w = below(3); w > 0; --w) {
      WaitFor wait{.streams = {},
                   .steps = 0,
                   .kind_in_progress = static_cast<std::uint8_t>(4 + below(4)),
                   .kind_late = static_cast<std::uint8_t>(8 + below(4))};
      const auto target = static_cast<std::int32_t>(below(std::uint64_t(streams)));
      const auto& written = result.operations()[static_cast<std::size_t>(target)];
      wait.streams = {target};
      wait.steps = static_cast<std::int32_t>(written.size());
      if (below(4) == 0) {
        wait.reserve = {static_cast<std::int32_t>(below(std::uint64_t(resources)))};
        o.reserve = 1 + below(9);
      }
      o.waits.push_back(wait);
    }
    result.add(static_cast<std::int32_t>(below(std::uint64_t(streams))), o);
  }
  return result;
}

}  // namespace sim::network
