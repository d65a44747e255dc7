// How replicas that are not cut alike add up their gradients: where the parts of the dnn are on one
// stage in each of them, in shares of the largest tensor degree among these stages.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/training/data_plan.h"

namespace sim::training {

struct Pipeline;
struct Stage;

struct SplitPlan {
  // What a step waits for on the stage of one pipeline.
  struct Wait {
    std::optional<int> event;   // of the stage's data plan
    std::optional<int> update;  // round whose optimizer step must have ended
  };
  struct Step {
    collective::Operation operation = collective::Operation::all_reduce;
    double bytes = 0;         // of one share, as nccl-tests counts
    std::vector<Wait> waits;  // [pipeline]
    const char* label = "";
  };
  // Units in a row (the embedding, layers, the head) that are on one stage in every pipeline. Each
  // share of it has a stream: of all replicas the rank that holds the share.
  struct Part {
    int shares = 1;
    std::vector<int> stages;  // [pipeline] in JobSystem::stages
    std::vector<Step> steps;
    std::vector<int> numbers;  // [step] among the steps of all parts, ascending
  };
  std::vector<Part> parts;
  int steps = 0;  // of all parts
};

// The parts, and for every stage the data plan of the replicas' traffic, whose operations are
// numbers of steps: a number is reached when no step up to it is left.
//   none    all-reduces of gradient buckets behind the last backward pass of a round
//   zero-1  reduce-scatters there, and all-gathers of the parameters before the first forward
//           passes or after the optimizer, as the stack does
// A single replica has nothing to add up. `units[stage]`. REQUIRES: one virtual stage.
SplitPlan split_plan(const dnn::SoftwareStack& stack, const plan::Plan& plan,
                     std::span<const Pipeline> pipelines, std::span<const Stage> stages,
                     std::span<const std::vector<Unit>* const> units,
                     std::vector<StageDataPlan>& data);

}  // namespace sim::training
