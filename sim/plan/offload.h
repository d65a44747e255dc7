// What a plan keeps in the memory of the hosts instead of on the devices.
#pragma once

#include <string>
#include <vector>

namespace sim::plan {

struct Plan;
struct Problem;

struct Offload {
  double optimizer = 0;    // share of the optimizer's states, with their step on the CPU
  double activations = 0;  // share of the layers of a virtual stage, from the first
  // Layers whose activations may be on their way to the host, and back, at once: the one that runs
  // and those beside it.
  int buffers = 2;

  bool is_on() const { return optimizer > 0 || activations > 0; }
  // Rounded up.
  int layers_of(int layers) const;
};

// Of problems(): why this plan cannot offload.
std::vector<Problem> offload_problems(const Plan& plan);

}  // namespace sim::plan
