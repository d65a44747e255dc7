// From what the engine recorded to what a run gives.
#pragma once

#include "sim/network/outcome.h"
#include "sim/training/job_system.h"
#include "sim/training/result.h"

namespace sim::training {

// A class of links, and the resource of its example, to be observed by the engine.
struct ObservedLinks {
  LinkClass links;
  std::int32_t resource = 0;
};
// By kind, capacity and bytes, busiest first, at most `limit`.
std::vector<ObservedLinks> link_classes(const Job& job, const JobSystem& system, std::size_t limit);

// How much later than the replicas that were run the slowest of all is expected to end its passes.
Picoseconds beyond_run(const JobSystem& system, const network::Outcome& outcome);

// Fills iterations, time, tracks, links, fingerprint. `class_of[stream]`: equal for streams that
// did the same. `beyond` is added to every iteration, as waiting for a replica that was not run.
void fill(const JobSystem& system, const std::vector<ObservedLinks>& links,
          const std::vector<std::int32_t>& class_of, const network::Outcome& outcome,
          Picoseconds beyond, Result& result);

// Of schedules that flush, of a transformer: when activations come and go. After fill_facts().
void fill_memory_over_time(const Job& job, const JobSystem& system, const network::Outcome& outcome,
                           Result& result);

// Fills memory, FLOPs, samples, the interval.
void fill_facts(const Job& job, const JobSystem& system, Result& result);

}  // namespace sim::training
