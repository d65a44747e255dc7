// Duration of a collective inside one scale-up domain when its number of ranks was not measured.
//
//   T = base + steps(operation, n) hop + S f(n) / (rate (n / 8)^growth) (1 + (saturation n /
//   S)^steepness)
//
// steps and f are those of a ring; an all-to-all sends to n - 1 peers. Used only as a ratio to the
// nearest number of ranks that was measured.
#pragma once

#include <cmath>

#include "calibrate/profile/profile.h"

namespace calibrate::profile {

template <class T>
struct RingLaw {
  T base{};  // [s]
  T hop{};   // [s] per step
  T rate{};  // [byte/s] of a long transfer at 8 ranks
  T growth{};
  T saturation{};  // [byte] per rank
  T steepness{};
};

// 2 (n - 1) for an all-reduce, n - 1 otherwise.
inline double ring_steps(CollectiveKind kind, double n) {
  return (kind == CollectiveKind::all_reduce ? 2 : 1) * (n - 1);
}

template <class T>
T ring_time(const RingLaw<T>& p, CollectiveKind kind, double ranks, double bytes) {
  using std::exp;
  using std::log;
  const double steps = ring_steps(kind, ranks);
  const T rate = p.rate * exp(p.growth * std::log(ranks / 8));
  const T slow = exp(p.steepness * (log(p.saturation) - std::log(bytes / ranks)));
  return p.base + steps * p.hop + bytes * steps / ranks / rate * (1.0 + slow);
}

}  // namespace calibrate::profile
