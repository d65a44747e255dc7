// The data-parallel traffic of one stage: which collectives, what each waits for, and what waits
// for it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/schedule.h"
#include "sim/training/costs.h"
#include "sim/training/offload_plan.h"

namespace sim::training {

struct DataOperation {
  collective::Operation operation = collective::Operation::all_reduce;
  double bytes = 0;           // as nccl-tests counts
  std::optional<int> event;   // raised by the compute stream; none: may start at once
  std::optional<int> update;  // round whose optimizer step must have ended
  std::string label;
};

// At a unit (embedding, layer, head) of a pass, in the order the pass runs them.
struct Hook {
  int pass = 0, unit = 0;
  std::optional<int> wait;   // data operation that must have ended before the unit
  std::optional<int> event;  // raised after the unit
};

struct DataPlan {
  std::vector<DataOperation> operations;
  std::vector<Hook> hooks;  // by pass, then unit
  int events = 0;
  std::vector<std::optional<int>> optimizer_waits;  // [round] data operation
  std::optional<int> end_waits;
  std::vector<bool> is_concurrent;  // [pass] data traffic may be in progress during it
};

// Copies of a sharded model add up their shares of the gradients, each behind its reduce-scatter.
struct CopyPlan {
  struct Reduction {
    double bytes = 0;
    int after = 0;  // data operation
  };
  std::vector<Reduction> reductions;
  std::vector<std::optional<int>> optimizer_waits;  // [round] reduction
};

// Of both groups that hold the same parameters; each has a stream of its own.
struct StageDataPlan {
  std::array<DataPlan, sharers_count> by_sharers;  // [Sharers]
  CopyPlan copies;                                 // of the data group
  OffloadPlan offload;

  const DataPlan& of(Sharers sharers) const {
    return by_sharers[static_cast<std::size_t>(sharers)];
  }
  // Events of the data group come first.
  int first_event(Sharers sharers) const {
    return sharers == Sharers::data ? 0 : by_sharers.front().events;
  }
  int first_offload_event() const { return by_sharers.front().events + by_sharers.back().events; }
  int events() const { return first_offload_event() + offload.events; }
  bool is_concurrent(std::size_t pass) const {
    return by_sharers.front().is_concurrent[pass] || by_sharers.back().is_concurrent[pass] ||
           offload.is_concurrent(pass);
  }
};

// `units[virtual stage]` of the stage.
// ZeRO-0: all-reduce of gradient buckets behind the last backward passes of a round; ZeRO-1:
// reduce-scatter, and after the optimizer (or before the first forward passes) all-gather of the
// parameters; ZeRO-2: reduce-scatter after every micro-batch; ZeRO-3: all-gather before and
// reduce-scatter after each unit, all among the ranks of one copy. Where the two copies of a part
// lie on different stages, gradients are reduced at the end.
DataPlan data_plan(const plan::Plan& plan, const dnn::SoftwareStack& stack,
                   const plan::Schedule& schedule, int stage,
                   const std::vector<std::vector<Unit>>& units, Sharers sharers = Sharers::data);

// What the copies add, where there are several; nothing else.
CopyPlan copy_plan(const plan::Plan& plan, const DataPlan& data);

}  // namespace sim::training
