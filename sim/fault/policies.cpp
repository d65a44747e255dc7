// The policies there are.
#include "sim/base/invariant.h"
#include "sim/fault/policy.h"

namespace sim::fault {

const std::vector<NamedPolicy>& policies() {
  static const std::vector<NamedPolicy> all = {
      {"restart", "restarts whole, on spares; waits for repairs where they are too few",
       make_restart},
      {"shrink",
       "restarts at once with the data-parallel replicas that the hosts allow, grows at a "
       "checkpoint",
       make_shrink},
      {"reroute",
       "goes on at once: other replicas do the micro-batches of those that lost a host; grows at a "
       "checkpoint",
       make_reroute},
      {"replan",
       "restarts at once, planned anew: hosts that make no whole replica are a shorter pipeline, "
       "layers and micro-batches are dealt by speed; grows at a checkpoint",
       make_replan},
      {"ignore", "the reference: failures do nothing", make_ignore},
  };
  return all;
}

std::unique_ptr<Policy> policy(const std::string& name) {
  for (const NamedPolicy& one : policies()) {
    if (one.name == name) return one.make();
  }
  bug("no policy of that name");
}

}  // namespace sim::fault
