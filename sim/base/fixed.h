// The integers the engine computes with. Nothing behind this border is floating point, so sums do
// not depend on their order and folded runs equal unfolded ones to the last bit.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/base/invariant.h"
#include "sim/base/quantity.h"

namespace sim {

__extension__ typedef __int128 Int128;

using Picoseconds = std::int64_t;  // instants since the start and durations; 2^63 ps = 106 days

// A rate is a fraction of the speed a task has alone, in units of 2^-32.
inline constexpr int rate_bits = 32;
inline constexpr std::int64_t rate_one = std::int64_t{1} << rate_bits;

// A weight is relative; in units of 2^-24.
inline constexpr int weight_bits = 24;
inline constexpr std::int64_t weight_one = std::int64_t{1} << weight_bits;

// The multiprocessors of one device, and one share of them, in units of 2^-20.
inline constexpr std::int64_t multiprocessors_one = std::int64_t{1} << 20;

// To the nearest picosecond; the only place where durations are rounded.
inline Picoseconds to_picoseconds(Seconds duration) {
  const double picoseconds = duration.value() * 1e12;
  invariant(picoseconds >= 0 && picoseconds < 9.2e18, "a duration is not in [0, 106 days)");
  return std::llround(picoseconds);
}
inline Seconds to_seconds(Picoseconds duration) {
  return Seconds(static_cast<double>(duration) * 1e-12);
}

inline std::int64_t to_bytes_per_second(BytesPerSecond rate) {
  invariant(rate.value() >= 0 && rate.value() < 9e15, "a rate is not in [0, 9 PB/s)");
  return std::llround(rate.value());
}

// The weight that makes competing transfers share bytes fairly: inverse to the rate a task has
// alone, since its rate is a fraction of that.
inline std::int64_t byte_fair_weight(std::int64_t bytes_per_second_alone) {
  if (bytes_per_second_alone <= 0) return weight_one;
  const double weight = 1e11 / static_cast<double>(bytes_per_second_alone);
  const std::int64_t fixed = std::llround(weight * static_cast<double>(weight_one));
  return fixed < 1 ? 1 : (fixed > (weight_one << 14) ? weight_one << 14 : fixed);
}

}  // namespace sim
