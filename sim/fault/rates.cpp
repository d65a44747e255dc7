// A map behind a lock, which is held while the engine runs: a state is asked for once.
#include "sim/fault/rates.h"

namespace sim::fault {

double Rates::samples_per_second(const ClusterState& state) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(state);
  if (found != known_.end()) return found->second;
  return known_[state] = ask_(state);
}

std::int64_t Rates::asked() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(known_.size());
}

}  // namespace sim::fault
