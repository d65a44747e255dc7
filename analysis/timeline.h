// A recorded run of a training job: who did what when.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.h"
#include "sim/base/fixed.h"

namespace analysis {

using sim::Picoseconds;

struct TimelineWorker {
  int data = 0, stage = 0, tensor = 0;  // its ranks
};

// Who takes part in an operation of a type.
enum class Meeting {
  none,        // computation: the worker alone
  next_stage,  // a send or receive, between a stage and the one behind it
  data,        // the workers of a stage and tensor rank
  tensor,      // the workers of a data rank and stage
  ends,        // the stages of a data and tensor rank that have it
  all
};

struct TimelineOperation {
  int type = 0, worker = 0, step = 0;  // in Timeline
  Picoseconds start = 0, lasted = 0;   // as recorded
  int meeting = -1;                    // in Timeline::meetings
};

struct Timeline {
  std::vector<std::string> types;  // names of operations, in the order in which they first occur
  std::vector<char> is_compute;    // [type]
  std::vector<TimelineWorker> workers;  // by stage, data, tensor
  std::vector<std::int64_t> steps;      // their numbers, ascending
  // By step, worker and start.
  std::vector<TimelineOperation> operations;
  std::vector<std::vector<int>> meetings;  // operations that can only go on together
};

// Reads Chrome's trace event format, a list or {"traceEvents": [...]}, plain or compressed with
// gzip. Threads are named "PP rank 0, TP rank 0, compute"; the process is the data-parallel rank;
// operations have Megatron's names and a step in their args. What is wrong, or not supported, goes
// to `diagnostics`; then nothing is returned.
std::optional<Timeline> read_timeline(const std::filesystem::path& file,
                                      sim::Diagnostics& diagnostics);

}  // namespace analysis
