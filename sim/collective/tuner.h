// What NCCL's tuner expects of an algorithm and protocol: a tool to choose, not a prediction.
#pragma once

#include <optional>

#include "sim/collective/collective.h"

namespace sim::collective {

struct TunerEstimate {
  Seconds latency;
  BytesPerSecond bandwidth;  // of the whole operation: size / (time - latency)
  Seconds time;
};

// T = latency + size / bandwidth, for the algorithms that NCCL weighs: ring, tree, collnet, nvls,
// nvls-tree, pat; none where it does not offer the combination or the group has an obstacle.
// Source: NVIDIA/nccl (Apache-2.0) src/graph/tuning.cc, ncclTopoTuneModel and ncclTopoGetAlgoTime.
std::optional<TunerEstimate> tuner_estimate(Operation operation, Algorithm algorithm,
                                            Protocol protocol, const Layout& layout,
                                            const Hardware& hardware, Bytes size);

// Channels of a communicator, before a small message takes fewer.
// Assumed: 24 on one NVSwitch host, 32 from Blackwell on, 16 over several hosts, 4 without NVLink;
// NCCL searches them for each machine.
int tuner_channels(const Hardware& hardware, int hosts);

}  // namespace sim::collective
