// What dealing the layers of a job over stages needs to know: times and memory, by degree and
// place.
#pragma once

#include <functional>
#include <vector>

#include "sim/plan/uneven_split.h"
#include "sim/training/job.h"

namespace sim::training {

struct StageCosts {
  std::vector<double> penalties;  // time of a layer at full degree / 2^i, relative to it
  plan::Ends ends;
  // Layers that a stage holds, by its index from the front.
  std::function<int(int stage, int stages, int tensor)> layers_max;
};
// REQUIRES: plan::problems_of_replanning() finds none; a dnn; devices of one type. The job outlives
// what is returned.
StageCosts stage_costs(const Job& job);

// A pipeline of the plan as it is, in layers.
plan::PipelineSpeed pipeline_speed(const Job& job, const StageCosts& costs);

}  // namespace sim::training
