// How fast the job trains in each state of the cluster, asked once of the engine and remembered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace sim::fault {

// A checkpoint that is on its way beside training.
enum class Writing { none, to_storage, to_memory };
inline constexpr std::size_t writing_count = 3;

struct ClusterState {
  int replicas = 1;  // data-parallel replicas that run, whole
  Writing writing = Writing::none;
  bool keeps_batch = false;  // those missing leave their micro-batches to the others
  int part = 0;              // hosts of one more replica, that lacks some; 0: there is none
  int percent = 100;         // of the load of writing
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
