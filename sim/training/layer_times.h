// How long the units of a dnn take on a tensor group, as a planner asks.
#pragma once

#include <vector>

#include "sim/training/job.h"

namespace sim::training {

// Forward and backward pass of one micro-batch.
struct LayerTimes {
  Seconds layer;        // mean of all
  Seconds first, last;  // the embedding; the head
};
// What a device has of its normal capacity.
struct Shares {
  double compute = 1, memory = 1;
};
// Of a tensor group on these devices, all of them as slow, on an idle cluster. Operators come one
// after the other, with what their collectives take longer than those that run beside them;
// launches take nothing.
// REQUIRES: the dnn has no experts and is not cut along the sequence; shares > 0.
LayerTimes layer_times(const Job& job, const std::vector<int>& devices, const Shares& shares = {});

}  // namespace sim::training
