// CPU time of one evaluation of a plan, as a search over plans would make them: the job is loaded.
#include <benchmark/benchmark.h>

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

}  // namespace

BENCHMARK_MAIN();
