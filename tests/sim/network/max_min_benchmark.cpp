// CPU time of the solver on the systems that large collectives make.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "sim/network/max_min.h"
#include "tests/sim/network/max_min_case.h"

using namespace sim;
using namespace sim::network;

namespace {

constexpr std::int64_t port = 50'000'000'000;  // bytes/s

void solve_repeatedly(benchmark::State& state, const MaxMinCase& c) {
  std::vector<Demand> demands;
  for (const MaxMinCase::Task& task : c.tasks) {
    demands.push_back({task.weight, task.cap, task.uses});
  }
  std::vector<std::int64_t> rates(demands.size());
  MaxMin solver;
  for (auto _ : state) {
    solver.solve(c.capacity, demands, rates);
    benchmark::DoNotOptimize(rates.data());
  }
}

// Each flow leaves a host of its own at a speed of its own and comes in through the same port.
void incast(benchmark::State& state) {
  std::mt19937_64 random(1);
  MaxMinCase c{{port}, {}};
  for (std::int32_t f = 0; f < 4096; ++f) {
    const std::int64_t alone = port / 1000 + static_cast<std::int64_t>(random() % (port / 2));
    // Some sources are slower than their share of the port: levels differ.
    c.capacity.push_back(f % 2 == 0 ? alone / static_cast<std::int64_t>(1 + random() % 8192)
                                    : alone);
    c.tasks.push_back({byte_fair_weight(alone), rate_one, {{0, alone}, {f + 1, alone}}});
  }
  solve_repeatedly(state, c);
}
BENCHMARK(incast)
    ->Name("4,096 flows of different sizes into one host")
    ->Unit(benchmark::kMillisecond);

// 16 rings over 1,024 hosts, each in an order of its own, on a fat tree of 32 leaves of 32 hosts
// with a non-blocking trunk: a flow goes up from its host and leaf, and down.
void rings(benchmark::State& state) {
  constexpr std::int32_t hosts = 1024, leaves = 32, rings = 16;
  std::mt19937_64 random(1);
  MaxMinCase c;
  c.capacity.assign(2 * hosts, port);
  c.capacity.resize(2 * hosts + 2 * leaves, port * hosts / leaves);
  std::vector<std::int32_t> order(hosts);
  for (std::int32_t h = 0; h < hosts; ++h) order[static_cast<std::size_t>(h)] = h;
  for (int ring = 0; ring < rings; ++ring) {
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t i = 0; i < hosts; ++i) {
      const std::int32_t from = order[i], to = order[(i + 1) % hosts];
      MaxMinCase::Task flow{byte_fair_weight(port), rate_one, {{from, port}, {hosts + to, port}}};
      const std::int32_t up = from / (hosts / leaves), down = to / (hosts / leaves);
      if (up != down) {
        flow.uses.push_back({2 * hosts + up, port});
        flow.uses.push_back({2 * hosts + leaves + down, port});
      }
      c.tasks.push_back(flow);
    }
  }
  solve_repeatedly(state, c);
}
BENCHMARK(rings)->Name("16,384 ring flows over 1,024 hosts")->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
