// What a stage copies between its devices and their hosts, and what the hosts' CPUs do: which
// copies, what each waits for, and what waits for it.
#pragma once

#include <climits>
#include <optional>
#include <vector>

#include "sim/plan/schedule.h"
#include "sim/training/costs.h"

namespace sim::training {

struct StageDataPlan;

// Bytes of a parameter and its gradient as they are copied, and what a CPU reads and writes for a
// parameter in a step: it reads and writes the fp32 master weight and both moments of Adam, reads
// the gradient and writes the parameter.
struct ParameterBytes {
  double gradient = 4, parameter = 2;
  double step() const { return 2 * 12 + gradient + parameter; }
};
// Of a timed dnn both are its gradient bytes.
ParameterBytes parameter_bytes(const Job& job);

struct OffloadPlan {
  struct Out {  // to the host
    double bytes = 0;
    enum class After { compute, data, expert_data, copies };
    After after = After::compute;
    int milestone = 0;  // event of the compute stream, or operation of the others
    bool is_gradient = false;
  };
  struct In {  // from the host
    double bytes = 0;
    std::optional<int> out = {}, step = {};  // that must have ended
    std::optional<int> event = {};           // of the compute stream
  };
  // At a unit of a pass, in the order the pass runs them.
  struct Hook {
    int pass = 0, unit = 0;
    std::optional<int> out, in;  // copies that must have ended before the unit
    std::optional<int> event;    // raised after the unit
  };

  std::vector<Out> out;
  std::vector<In> in;         // activations, then parameters
  std::vector<double> steps;  // bytes that the CPU reads and writes in each
  std::vector<Hook> hooks;    // by pass, then unit
  int events = 0;
  int concurrent_from = INT_MAX;     // pass from which on copies may be in progress
  std::optional<int> last_gradient;  // in `out`

  bool is_concurrent(std::size_t pass) const { return static_cast<int>(pass) >= concurrent_from; }
  bool is_empty() const { return out.empty(); }
};

// Gradients go to the host behind the last backward pass of their unit, or behind their reduction;
// when all are there the CPU takes the step, one copy's parameters after the other, and sends each
// back. Activations of a layer go behind its forward pass, and come back before its backward pass;
// at most plan.offload.buffers of them are on their way in a direction, and passes wait for that.
OffloadPlan offload_plan(const Job& job, const plan::Schedule& schedule, int stage,
                         const std::vector<std::vector<Unit>>& units, const StageDataPlan& data);

}  // namespace sim::training
