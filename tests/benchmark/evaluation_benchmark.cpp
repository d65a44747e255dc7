// CPU time of one evaluation of a plan, as a search over plans would make them: the job is loaded.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>

#include "sim/training/lower_bound.h"
#include "sim/training/search.h"
#include "sim/training/simulate.h"
#include "tests/benchmark/scale_job.h"

using namespace sim;

namespace {

void evaluation(benchmark::State& state) {
  const command::LoadedJob loaded = scale_job(8, 8);
  training::Result result;
  for (auto _ : state) result = std::get<training::Result>(training::simulate(loaded.job));
  state.counters["tasks"] = static_cast<double>(result.fold.tasks);
  state.counters["task_classes"] = static_cast<double>(result.fold.task_classes);
}
BENCHMARK(evaluation)
    ->Name("GPT-3 175B on 512 GPUs, 8 x 8 x 8, folded")
    ->Unit(benchmark::kMillisecond);

// Of the plans of a search: those that are possible are bounded, without their memory.
void bounds(benchmark::State& state) {
  const command::LoadedJob loaded = scale_job(8, 8);
  const auto plans = training::plans_of(loaded.job, {});
  for (auto _ : state) {
    training::LowerBound bound(loaded.job);
    std::int64_t least = INT64_MAX;
    for (const plan::Plan& plan : plans) least = std::min(least, bound.of(plan));
    benchmark::DoNotOptimize(least);
  }
  state.counters["plans"] = static_cast<double>(plans.size());
  state.counters["plans_per_second"] = benchmark::Counter(
      static_cast<double>(plans.size()), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(bounds)
    ->Name("lower bounds of all plans, GPT-3 175B on 512 GPUs")
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
