// Durations that vary: how long the ranks of a lane take for the same operator.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/fixed.h"
#include "sim/training/job.h"

namespace sim::training {

// The operators of the ranks of one lane, in order. Every operator of every rank has a draw of its
// own, so that it does not matter which of them are merged into one step.
class LaneJitter {
 public:
  LaneJitter(const Jitter& jitter, const std::vector<int>& ranks);

  // Of the next operator, which takes `work` where nothing varies: from when the slowest rank has
  // ended all before it to when the slowest has ended it too. Sums are those of the slowest rank.
  Picoseconds next(Picoseconds work);
  // The ranks wait for each other.
  void meet();

 private:
  Jitter jitter_;
  std::vector<int> ranks_;
  std::vector<double> device_;      // [rank of the lane] factor of all its operators
  std::vector<Picoseconds> ended_;  // [rank of the lane] since they met
  Picoseconds slowest_ = 0;         // of ended_
  std::uint64_t operator_ = 0;      // next
};

// How much longer than these samples' longest the longest of `count` is expected to be: the
// samples' deviation times the difference of the expected maxima of normal draws.
// Worked: 64 samples with a deviation of 10 ms, of 128: 10 ms * (2.585 - 2.337) = 2.48 ms.
// REQUIRES: at least two samples, and no more than count.
Picoseconds beyond_samples(const std::vector<Picoseconds>& samples, std::int64_t count);

}  // namespace sim::training
