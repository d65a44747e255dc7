// Streams of a whole job: a compute stream for every lane, and the host, tensor, pipeline, data and
// embedding streams around it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/rank_grid.h"
#include "sim/training/compute_program.h"
#include "sim/training/system_builder.h"

namespace sim::training {

// What runs in lockstep as one: the ranks of a tensor group, or one rank.
struct Lane {
  int stage = 0;           // in JobSystem::stages
  std::int64_t size = 1;   // lanes that it stands for
  std::vector<int> ranks;  // ascending
  bool is_merged = false;
  std::int32_t compute = -1;            // stream
  double flops = 0;                     // of its ranks, in one iteration
  std::array<Picoseconds, 4> family{};  // [CostedOperator::Family] work of one rank
};

// The pipeline of replicas that are cut alike.
struct Pipeline {
  int first_replica = 0, replicas = 1;
  plan::Schedule schedule;
};
struct Stage {
  int pipeline = 0;  // in JobSystem::pipelines
  int place = 0;     // in the pipeline
  plan::Plan plan;   // as if all stages of all replicas were cut like this one
};

// A stream of a representative rank, for the trace.
struct RecordedStream {
  std::int32_t stream = 0;
  int lane = 0;
  std::string name;                          // "compute", "data", "send forward", ...
  std::vector<std::int32_t> pass_ends = {};  // of a compute stream: LanePrograms::pass_ends
};

// Ends when every lane of a replica has ended its passes: all that a replica does by itself.
struct FinishLine {
  std::int32_t stream = 0;
  bool is_sampled = false;  // has draws, and is not disturbed
};

struct JobSystem {
  network::System system;
  std::vector<Lane> lanes;
  std::vector<RecordedStream> recorded;
  std::vector<ResourceOrigin> origins;     // [resource]
  std::vector<std::int64_t> alike;         // [resource] how many it stands for
  std::vector<std::int64_t> most_through;  // [resource] SystemBuilder::most_through()
  std::vector<Int128> amounts;             // [resource] through it in one iteration, in 10^-6 bytes
  std::vector<Pipeline> pipelines;         // one, unless replicas are unlike
  std::vector<Stage> stages;               // of the first pipeline, then of the next
  std::vector<std::string> extrapolated;
  // Of each replica, where those with draws stand for all; empty: every replica has its own.
  std::vector<FinishLine> finish_lines;
  std::int64_t replicas = 1;
  // Without a flush one iteration of the system holds so many of the job, each with a stream that
  // ends with it.
  int rounds = 1;
  Pipelining pipelining;
  std::vector<std::int32_t> round_ends;
  // It is that of the whole job only if no link between switches can bind, but disturbed ones.
  bool is_uneven = false;
  std::optional<TooLarge> too_large;  // then nothing else is there
};

// Rounds that are simulated as one run of the system: one, or without a flush more than the
// iterations asked for, as the first fills the pipeline and the last ones empty it.
int rounds(const Job& job);

// Rank r runs on device r of the cluster.
JobSystem job_system(const Job& job);

}  // namespace sim::training
