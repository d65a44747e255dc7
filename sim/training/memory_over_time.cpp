// When the activations of a stage come and go.
#include <algorithm>
#include <map>

#include "sim/training/outcome.h"

namespace sim::training {

namespace {

struct Times {
  Picoseconds start = 0, end = 0;
};

// [step] of each recorded compute stream in the last iteration.
std::map<std::int32_t, std::vector<Times>> times_of_steps(const JobSystem& system,
                                                          const network::Outcome& outcome) {
  std::map<std::int32_t, std::vector<Times>> result;
  for (const RecordedStream& recorded : system.recorded) {
    if (recorded.pass_ends.empty()) continue;
    result[recorded.stream].resize(static_cast<std::size_t>(recorded.pass_ends.back()));
  }
  for (const network::Record& record : outcome.records) {
    const auto found = result.find(record.stream);
    const auto step = static_cast<std::size_t>(record.step);
    if (found == result.end() || step >= found->second.size()) continue;
    found->second[step] = {record.started_at, record.ended_at};
  }
  return result;
}

void add_stage(const std::vector<plan::HeldActivations>& held,
               const std::vector<std::int32_t>& pass_ends, const std::vector<Times>& steps,
               Picoseconds start, StageMemory& memory) {
  std::int32_t first = 0;
  for (std::size_t pass = 0; pass < pass_ends.size(); ++pass) {
    const std::int32_t end = pass_ends[pass];
    if (end == first) continue;
    const Times& begin = steps[static_cast<std::size_t>(first)];
    const Times& last = steps[static_cast<std::size_t>(end - 1)];
    memory.activations.emplace_back(begin.start - start, held[pass].during.value());
    memory.activations.emplace_back(last.end - start, held[pass].after.value());
    first = end;
  }
  const auto most =
      std::max_element(memory.activations.begin(), memory.activations.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != memory.activations.end()) memory.peak_at_ps = most->first;
}

}  // namespace

void fill_memory_over_time(const Job& job, const JobSystem& system, const network::Outcome& outcome,
                           Result& result) {
  const auto* dnn = std::get_if<dnn::Transformer>(&job.dnn);
  if (!dnn || system.rounds > 1) return;
  const auto& ends = outcome.iteration_ends;
  const Picoseconds start = ends.size() > 1 ? ends[ends.size() - 2] : 0;
  const auto steps = times_of_steps(system, outcome);
  for (const RecordedStream& recorded : system.recorded) {
    if (recorded.pass_ends.empty()) continue;
    const int stage = system.lanes[static_cast<std::size_t>(recorded.lane)].stage;
    const Stage& what = system.stages[static_cast<std::size_t>(stage)];
    const auto& schedule = system.pipelines[static_cast<std::size_t>(what.pipeline)].schedule;
    const auto held = plan::held_activations(what.plan, *dnn, job.stack, schedule, what.place);
    add_stage(held, recorded.pass_ends, steps.at(recorded.stream), start,
              result.memory[static_cast<std::size_t>(stage)]);
  }
}

}  // namespace sim::training
