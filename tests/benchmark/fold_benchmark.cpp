// CPU time of refining the streams and resources of a whole job into classes.
#include <benchmark/benchmark.h>

#include "sim/fold/quotient.h"
#include "sim/training/job_system.h"
#include "sim/training/never_binding.h"
#include "tests/benchmark/scale_job.h"

using namespace sim;

namespace {

void lump(benchmark::State& state) {
  command::LoadedJob loaded = scale_job(16, 232);
  loaded.job.folds = false;  // or only one replica of each kind is built
  network::System system = training::job_system(loaded.job).system;
  training::drop_never_binding(system);
  std::size_t classes = 0;
  for (auto _ : state)
    classes = fold::lump(system, fold::Shape(system), system.capacity).stream.size();
  state.counters["streams"] = static_cast<double>(system.streams.size());
  state.counters["classes"] = static_cast<double>(classes);
}
BENCHMARK(lump)->Name("classes of the streams of 29,696 GPUs")->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
