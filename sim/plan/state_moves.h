// What changes hands when a job goes on with its dnn dealt otherwise.
#pragma once

#include <cstdint>
#include <vector>

namespace sim::plan {

// Which devices hold which units: the embedding, layers, the head, in model order.
struct StateLayout {
  struct Stage {
    std::vector<int>
        devices;  // of its tensor group: rank i of t holds [i / t, (i + 1) / t) of each
    int first_unit = 0, end_unit = 0;
  };
  std::vector<std::vector<Stage>> replicas;
  // Replicas share the optimizer's states: of each of the shares that the largest tensor degree
  // cuts a unit into, replica r of n has [r / n, (r + 1) / n), as gradients are reduced.
  bool shares_optimizer = false;
};

struct UnitBytes {  // of a whole unit
  double weights = 0, optimizer = 0;
};

struct StateMove {
  int from = 0, to = 0;  // devices
  double bytes = 0;
};

// What each device needs in the new layout and does not hold in the old one, from a device that
// does: one in the same host where there is one, then the one that sends least so far. Ascending by
// `from` and `to`. Norms, which every tensor rank holds whole, count as split.
// Worked: 2 stages of 4 layers of 14 bytes become 5 and 3: the fifth layer goes to the first stage,
// 14 bytes.
// REQUIRES: every unit is held in both layouts; `host_of[device]`; tensor degrees of a unit divide
// the largest of it.
std::vector<StateMove> state_moves(const StateLayout& old_layout, const StateLayout& new_layout,
                                   const std::vector<UnitBytes>& units,
                                   const std::vector<int>& host_of);

}  // namespace sim::plan
