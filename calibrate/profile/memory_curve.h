// Time of an operator that only moves bytes: launch, then cache rate turning into memory rate.
//
//   T = latency + b ((1 - r) / cache + r / memory),  r = 1 / (1 + (knee / b)^steepness)
#pragma once

#include <cmath>

namespace calibrate::profile {

template <class T>
struct MemoryCurve {
  T latency{};  // [s]
  T cache{};    // [byte/s] while everything fits the cache
  T memory{};   // [byte/s]
  T knee{};     // [byte]
  T steepness{};
};

template <class T>
T memory_time(const MemoryCurve<T>& p, double bytes) {
  using std::exp;
  using std::log;
  if (bytes <= 0) return T(0);
  const T share = 1.0 / (1.0 + exp(p.steepness * (log(p.knee) - std::log(bytes))));
  return p.latency + bytes * ((1.0 - share) / p.cache + share / p.memory);
}

}  // namespace calibrate::profile
