// Adds up what flows between pairs of members, in whole shares of the size.
#include "sim/collective/tally.h"

#include <algorithm>
#include <tuple>

namespace sim::collective {

void Tally::add(int source, int target, std::int64_t shares) {
  if (source != target && shares > 0) entries_.push_back({source, target, shares});
}

std::vector<Hop> Tally::hops(Bytes size) const {
  std::vector<Entry> sorted = entries_;
  std::sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.source, a.target) < std::tie(b.source, b.target);
  });
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < sorted.size();) {
    std::int64_t shares = 0;
    const Entry first = sorted[i];
    for (;
         i < sorted.size() && sorted[i].source == first.source && sorted[i].target == first.target;
         ++i) {
      shares += sorted[i].shares;
    }
    hops.push_back({first.source, first.target,
                    size * static_cast<double>(shares) / static_cast<double>(divisor_)});
  }
  return hops;
}

}  // namespace sim::collective
