// Which plans a search tries.
#pragma once

#include <vector>

#include "sim/plan/plan.h"

namespace sim::training {

// An empty list: what its comment says.
struct PlanSpace {
  std::vector<int> tensor;          // powers of two up to 64 that fit the dnn
  std::vector<int> context;         // the base's
  std::vector<int> stages;          // all that divide the devices, up to the layers
  std::vector<int> virtual_stages;  // all that divide the layers of a stage; only interleaved
  std::vector<int> micro_batch;     // powers of two
  std::vector<plan::ScheduleKind> schedules;  // 1F1B and interleaved; those without a flush: none
  std::vector<dnn::Recompute> recompute;      // all
  std::vector<plan::Sharding> sharding;       // the base's
  int top = 10;                               // plans to report
};

}  // namespace sim::training
