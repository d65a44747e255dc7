// What the steps of a collective cost beside its bytes.
#include "sim/collective/collective.h"

namespace sim::collective {

Seconds latency(const Traffic& traffic, const Latencies& latencies) {
  if (traffic.hops.empty()) return Seconds(0);
  return latencies.base + traffic.intra_steps * latencies.step_intra +
         traffic.inter_steps * latencies.step_inter;
}

}  // namespace sim::collective
