// Data-parallel replicas that are not all cut alike.
#pragma once

#include <vector>

namespace sim::plan {

struct Plan;

// One replica with a cut of its own: a pipeline whose stages have layers and tensor ranks each.
struct Replica {
  std::vector<int> tensor;   // [stage] ranks that share every layer of the stage
  std::vector<int> layers;   // [stage]
  int micro_batches = 1;     // per iteration
  std::vector<int> devices;  // of its ranks, stage after stage
  int entry = 0;             // in the scenario's list, for messages

  int stages() const { return static_cast<int>(tensor.size()); }
  int ranks() const;
  bool is_cut_like(const Replica& other) const {
    return tensor == other.tensor && layers == other.layers && micro_batches == other.micro_batches;
  }
};

// Replicas that are cut alike are of one kind. [replica] its kind, in the order of their first
// replicas; a plan whose replicas are all alike lists none and has one kind.
std::vector<int> kinds_of_replicas(const Plan& plan);
// [kind] its first replica.
std::vector<int> first_of_kinds(const Plan& plan);
inline std::size_t kind_of(const std::vector<int>& kinds, int replica) {
  return kinds.empty() ? 0 : static_cast<std::size_t>(kinds[static_cast<std::size_t>(replica)]);
}

// Gives the plan such replicas instead of the cut that it had.
void set_replicas(Plan& plan, std::vector<Replica> replicas);

int stages_of(const Plan& plan, int replica);
// What a stage of a replica does is that of a plan in which all replicas are cut like this one, and
// all stages have as many tensor ranks as this one.
Plan plan_of_stage(const Plan& plan, int replica, int stage);

}  // namespace sim::plan
