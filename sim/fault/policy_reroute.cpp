// What survives goes on: each replica holds all of the state, so others can do the micro-batches of
// those that lost a host. Every lost host is taken to be in another replica, and no replica of less
// than all its hosts to help: both are the worst case. What takes no host restarts the job.
#include "sim/fault/policy.h"

namespace sim::fault {
namespace {

class Reroute : public Policy {
 public:
  bool keeps_batch() const override { return true; }
  bool goes_on(const Situation& situation) const override {
    return situation.replicas_running > situation.replicas_lost;
  }
  int replicas_after_failure(const Situation& situation) const override {
    const bool is_cut = situation.replicas_lost > 0 && goes_on(situation);
    return is_cut ? situation.replicas_running - situation.replicas_lost
                  : situation.replicas_possible;
  }
  int replicas_at_checkpoint(const Situation& situation) const override {
    return situation.replicas_possible;
  }
};

}  // namespace

std::unique_ptr<Policy> make_reroute() { return std::make_unique<Reroute>(); }

}  // namespace sim::fault
