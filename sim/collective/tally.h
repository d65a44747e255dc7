// Adds up what flows between pairs of members, in whole shares of the size.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/collective.h"

namespace sim::collective {

class Tally {
 public:
  // A share is 1/divisor of the size.
  explicit Tally(std::int64_t divisor) : divisor_(divisor) {}
  void add(int source, int target, std::int64_t shares);
  // One hop per (source, target), in that order; rounded once. Whole numbers do not depend on the
  // order of addition.
  std::vector<Hop> hops(Bytes size) const;

 private:
  struct Entry {
    int source, target;
    std::int64_t shares;
  };
  std::int64_t divisor_;
  std::vector<Entry> entries_;
};

}  // namespace sim::collective
