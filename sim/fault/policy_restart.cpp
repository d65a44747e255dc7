// The whole job or nothing.
#include "sim/fault/policy.h"

namespace sim::fault {
namespace {

class Restart : public Policy {
 public:
  int replicas_after_failure(const Situation& situation) const override {
    return situation.replicas_possible == situation.replicas ? situation.replicas : 0;
  }
};

}  // namespace

std::unique_ptr<Policy> make_restart() { return std::make_unique<Restart>(); }

}  // namespace sim::fault
