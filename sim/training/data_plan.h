// The data-parallel traffic of one stage: which collectives, what each waits for, and what waits
// for it.
#pragma once

#include <algorithm>
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

// "data", "expert data", "data of cut 1".
std::string name_of(Sharers sharers);

// Of all groups that hold the same parameters; each has a stream of its own.
struct StageDataPlan {
  std::vector<DataPlan> by_sharers;  // [Sharers]
  CopyPlan copies;                   // of the data group
  OffloadPlan offload;

  const DataPlan& of(Sharers sharers) const { return by_sharers[index_of(sharers)]; }
  // Events of one group come after those of the other.
  int first_event(Sharers sharers) const { return events_before(index_of(sharers)); }
  int first_offload_event() const { return events_before(by_sharers.size()); }
  int events() const { return first_offload_event() + offload.events; }
  bool is_concurrent(std::size_t pass) const {
    return offload.is_concurrent(pass) ||
           std::any_of(by_sharers.begin(), by_sharers.end(),
                       [&](const DataPlan& data) { return bool{data.is_concurrent[pass]}; });
  }

 private:
  int events_before(std::size_t sharers) const {
    int events = 0;
    for (std::size_t i = 0; i < sharers; ++i) events += by_sharers[i].events;
    return events;
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

// Orders the hooks as passes come to them; passes with hooks have traffic beside them.
void finish_hooks(DataPlan& data);

// What the copies add, where there are several; nothing else.
CopyPlan copy_plan(const plan::Plan& plan, const DataPlan& data);

}  // namespace sim::training
