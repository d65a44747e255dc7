// As many data-parallel replicas as there are hosts for. Each keeps its micro-batches, so the
// global batch shrinks with them.
#include "sim/fault/policy.h"

namespace sim::fault {
namespace {

class Shrink : public Policy {
 public:
  int replicas_after_failure(const Situation& situation) const override {
    return situation.replicas_possible;
  }
  int replicas_at_checkpoint(const Situation& situation) const override {
    return situation.replicas_possible;
  }
};

}  // namespace

std::unique_ptr<Policy> make_shrink() { return std::make_unique<Shrink>(); }

}  // namespace sim::fault
