// The job is planned anew for the hosts that there are: as many whole replicas as they make, and
// the hosts that are left over as one more, a shorter pipeline with layers dealt anew.
// Micro-batches are dealt by speed, so the global batch stays. Assumed: layers change hosts, so it
// restarts from a checkpoint, placed anew, rather than moving states between survivors; at a
// checkpoint, if that makes one more replica whole, since a restart for each host that comes back
// costs more than the host does. It waits where no replica is whole. A shorter pipeline that memory
// or speed speak against is left idle (engine_rates.cpp).
#include "sim/fault/policy.h"

namespace sim::fault {
namespace {

class Replan : public Policy {
 public:
  bool keeps_batch() const override { return true; }
  bool uses_part() const override { return true; }
  int replicas_after_failure(const Situation& situation) const override {
    return situation.replicas_possible;
  }
  int replicas_at_checkpoint(const Situation& situation) const override {
    return situation.replicas_possible;
  }
};

}  // namespace

std::unique_ptr<Policy> make_replan() { return std::make_unique<Replan>(); }

}  // namespace sim::fault
