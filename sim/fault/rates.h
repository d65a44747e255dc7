// How fast the job trains in each state of the cluster, asked once of the engine and remembered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace sim::fault {

struct ClusterState {
  int replicas = 1;         // data-parallel replicas that run
  bool is_writing = false;  // a checkpoint is on its way to storage
  auto operator<=>(const ClusterState&) const = default;
};

// Safe to use from several threads.
class Rates {
 public:
  // `ask` gives samples per second of a state.
  using Ask = std::function<double(const ClusterState&)>;
  explicit Rates(Ask ask) : ask_(std::move(ask)) {}
  double samples_per_second(const ClusterState& state);
  // States that were asked for.
  std::int64_t asked() const;

 private:
  Ask ask_;
  mutable std::mutex mutex_;
  std::map<ClusterState, double> known_;
};

}  // namespace sim::fault
