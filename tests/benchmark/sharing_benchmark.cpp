// CPU time of whole runs in which many flows share links.
#include <benchmark/benchmark.h>

#include <random>

#include "tests/sim/network/hand_system.h"

using namespace sim;
using namespace sim::network;

namespace {

constexpr std::int64_t port = 50'000'000'000;  // bytes/s

void run_repeatedly(benchmark::State& state, const System& system) {
  std::uint64_t events = 0;
  for (auto _ : state) events += outcome(system).events;
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kAvgIterations);
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

// Without what the reports need: the time is that of the engine.
System silent(const HandSystem& hand) {
  System system = hand.take();
  for (Stream& stream : system.streams) stream.is_accounted = stream.is_recorded = false;
  return system;
}

Picoseconds random_work(std::mt19937_64& random) {
  return millisecond + static_cast<Picoseconds>(random() % static_cast<std::uint64_t>(millisecond));
}

void incast(benchmark::State& state) {
  std::mt19937_64 random(1);
  HandSystem hand;
  const std::int32_t target = hand.resource("down", port);
  for (int f = 0; f < 4096; ++f) {
    const std::int32_t up = hand.resource("up", port);
    hand.stream("flow", {{.work = random_work(random), .uses = {{up, port}, {target, port}}}});
  }
  run_repeatedly(state, silent(hand));
}
BENCHMARK(incast)
    ->Name("4,096 flows of different sizes into one host")
    ->Unit(benchmark::kMillisecond);

struct Rings {
  std::int32_t stride_first, stride_step;
  bool is_each_flow_different;  // in size; or only each ring
};

// 16 rings over 1,024 hosts on a fat tree of 32 leaves of 32 hosts, whose up-links, sprayed and so
// one fat link, carry half of what the hosts can send.
System rings(const Rings& rings) {
  constexpr std::int32_t hosts = 1024, leaf = 32, leaves = hosts / leaf;
  std::mt19937_64 random(1);
  HandSystem hand;
  for (int r = 0; r < 2 * hosts; ++r) hand.resource("host", port);
  for (int r = 0; r < 2 * leaves; ++r) hand.resource("trunk", port * leaf / 2);
  for (std::int32_t ring = 0; ring < 16; ++ring) {
    Picoseconds work = random_work(random);
    for (std::int32_t from = 0; from < hosts; ++from) {
      const std::int32_t to = (from + rings.stride_first + ring * rings.stride_step) % hosts;
      if (rings.is_each_flow_different) work = random_work(random);
      Operation flow{.work = work, .uses = {{from, port}, {hosts + to, port}}};
      if (from / leaf != to / leaf) {
        flow.uses.push_back({2 * hosts + from / leaf, port});
        flow.uses.push_back({2 * hosts + leaves + to / leaf, port});
      }
      hand.stream("flow", {flow});
    }
  }
  return silent(hand);
}
void far_rings(benchmark::State& state) { run_repeatedly(state, rings({33, 62, false})); }
BENCHMARK(far_rings)
    ->Name("16 rings over 1,024 hosts, all flows through the trunk")
    ->Unit(benchmark::kMillisecond);
void near_rings(benchmark::State& state) { run_repeatedly(state, rings({1, 2, false})); }
BENCHMARK(near_rings)
    ->Name("16 rings over 1,024 hosts, strides 1 to 31")
    ->Unit(benchmark::kMillisecond);
void different_rings(benchmark::State& state) { run_repeatedly(state, rings({33, 62, true})); }
BENCHMARK(different_rings)
    ->Name("16 rings over 1,024 hosts, 16,384 different sizes")
    ->Unit(benchmark::kMillisecond);

// All-reduces as one task each on the up and the down link of every rank, one after the other in
// each stream; streams compete for all links.
void all_reduces(benchmark::State& state) {
  constexpr std::int32_t ranks = 4096;
  std::mt19937_64 random(1);
  HandSystem hand;
  Operation all_reduce;
  for (std::int32_t r = 0; r < 2 * ranks; ++r) {
    all_reduce.uses.push_back({hand.resource("link", port), port});
  }
  for (std::int64_t s = 0; s < state.range(0); ++s) {
    const std::int32_t stream = hand.stream("all-reduce");
    for (int i = 0; i < 32; ++i) {
      all_reduce.work = random_work(random);
      hand.add(stream, all_reduce);
    }
  }
  run_repeatedly(state, silent(hand));
}
BENCHMARK(all_reduces)
    ->Name("32 all-reduces over 4,096 ranks, by competing streams")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
