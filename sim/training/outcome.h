// From what the engine recorded to what a run gives.
#pragma once

#include "sim/network/execution.h"
#include "sim/training/job_system.h"
#include "sim/training/result.h"

namespace sim::training {

// Classes of links by kind, capacity and bytes, busiest first, at most `limit`.
std::vector<LinkClass> link_classes(const Job& job, const JobSystem& system, std::size_t limit);

// One example link of each class, to be observed by the engine.
std::vector<std::int32_t> examples(const Job& job, const std::vector<LinkClass>& classes);

// Fills iterations, time, tracks, links, fingerprint.
void fill(const Job& job, const JobSystem& system, const network::Outcome& outcome, Result& result);

// Fills memory, FLOPs, samples, the interval.
void fill_facts(const Job& job, const JobSystem& system, Result& result);

}  // namespace sim::training
