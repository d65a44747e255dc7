// The reference that others are compared with: nothing ever fails.
#include "sim/fault/policy.h"

namespace sim::fault {
namespace {

class Ignore : public Policy {
 public:
  bool ignores_failures() const override { return true; }
  int replicas_after_failure(const Situation& situation) const override {
    return situation.replicas_running;
  }
};

}  // namespace

std::unique_ptr<Policy> make_ignore() { return std::make_unique<Ignore>(); }

}  // namespace sim::fault
