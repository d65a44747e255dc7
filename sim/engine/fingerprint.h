// One number for everything that happened: equal runs have equal ones, whatever order equal
// instants were handled in.
#pragma once

#include <cstdint>

#include "sim/base/fixed.h"

namespace sim::engine {

// The finaliser of SplitMix64. Source: Steele, Lea and Flood, OOPSLA 2014, figure 17.
constexpr std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class Fingerprint {
 public:
  // `count` equal operations (who, which) ended. Addition makes the sum independent of the order,
  // and of who stands for whom.
  void add(std::uint64_t who, std::uint64_t which, Picoseconds at, std::uint64_t count = 1) {
    value_ += count * mix(mix(mix(who) ^ which) ^ static_cast<std::uint64_t>(at));
    events_ += count;
  }
  std::uint64_t value() const { return mix(value_ ^ events_); }
  std::uint64_t events() const { return events_; }

  // The finaliser of SplitMix64. Source: Steele, Lea and Flood, OOPSLA 2014, figure 17.
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t value_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace sim::engine
