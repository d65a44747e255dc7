// Jobs whose durations vary: a sample of replicas against all of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/approximately.h"
#include "tests/scenarios/run_scenario.h"

using namespace sim;
using training::Result;

namespace {

constexpr const char* on_tensor_ranks =
    "dnn: {name: llama-3.1-8b}\n"
    "plan: {tensor: 2, pipeline: {stages: 2}, data: {sharding: zero-1}}\n";
constexpr const char* on_stages =
    "dnn: {timed: {layers: 8, forward: 1 ms, backward: 2 ms, parameters: 40 MB, boundary: 8 MB}}\n"
    "plan: {pipeline: {stages: 4}, data: {sharding: zero-1}}\n";

// Four devices are one replica: two a host. Each has 16 micro-batches.
command::LoadedJob job_of(const std::string& dnn_and_plan, int hosts,
                          const std::string& more = "") {
  const std::string text = fmt::format(
      "maquette: 1\nname: jitter\ncluster:\n"
      "  hosts: [{{name: h, count: {}, type: hgx-h100}}]\n"
      "  fabric: {{kind: rail-optimized, hosts_per_group: 32, link: 400 Gbit/s, latency: 0.6 us,"
      " oversubscription: 1}}\n"
      "training: {{sequence: 4096, global_batch: {}, micro_batch: 1}}\n"
      "run: {{iterations: 2, jitter: {{device: 2 %, operation: 3 %}}}}\n{}{}",
      hosts, hosts * 32, dnn_and_plan, more);
  Diagnostics diagnostics;
  const auto read =
      scenario::read_scenario_text("jitter", text, {}, command::catalog(), diagnostics);
  INFO(diagnostics.text());
  REQUIRE(read);
  auto loaded = command::load(*read, diagnostics);
  REQUIRE(loaded);
  return std::move(*loaded);
}

Result run(command::LoadedJob& loaded, std::uint64_t seed, bool folds = true) {
  loaded.job.jitter.seed = seed;
  loaded.job.folds = folds;
  auto outcome = training::simulate(loaded.job);
  REQUIRE(std::holds_alternative<Result>(outcome));
  auto result = std::get<Result>(std::move(outcome));
  CHECK(std::accumulate(result.time.begin(), result.time.end(), std::int64_t{0}) ==
        result.iteration_ps());
  CHECK(result.iterations_ps.front() == result.iteration_ps());  // each has the same draws
  return result;
}

double seconds(const Result& result) { return to_seconds(result.iteration_ps()).value(); }

}  // namespace

// The slowest of 128 is among the first 64 half of the time, so that a single seed is off by about
// the deviation between replicas; the mean over seeds is not.
TEST_CASE("jitter: 64 of 128 replicas -> as all of them: 0.25 % over ten seeds, 1 % each") {
  for (const char* dnn_and_plan : {on_tensor_ranks, on_stages}) {
    command::LoadedJob loaded = job_of(dnn_and_plan, 64);
    double sum = 0, worst = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Result sampled = run(loaded, seed), whole = run(loaded, seed, false);
      REQUIRE_FALSE(sampled.fold.exact);
      CHECK(whole.fold.exact);
      const double difference = seconds(sampled) / seconds(whole) - 1;
      sum += difference / 10;
      worst = std::max(worst, std::abs(difference));
    }
    CHECK(std::abs(sum) < 0.0025);
    CHECK(worst < 0.01);
  }
}

TEST_CASE("jitter: deviations of 0 -> to the last bit as if there were no jitter") {
  command::LoadedJob loaded = job_of(on_tensor_ranks, 8);
  loaded.job.jitter = {.device = 0, .operation = 0, .replicas = 4, .seed = 1};
  const Result varied = run(loaded, 7);
  loaded.job.jitter = {};
  const Result plain = run(loaded, 1);
  CHECK(varied.iterations_ps == plain.iterations_ps);
  CHECK(varied.fingerprint == plain.fingerprint);
  CHECK(varied.time == plain.time);
  CHECK(varied.fold.rank_classes == plain.fold.rank_classes);
  CHECK(varied.fold.exact);
}

TEST_CASE("jitter: enough replicas -> folding changes nothing; a seed repeats, another does not") {
  for (const char* dnn_and_plan : {on_tensor_ranks, on_stages}) {
    command::LoadedJob loaded = job_of(dnn_and_plan, 8);
    const Result folded = run(loaded, 1), whole = run(loaded, 1, false);
    CHECK(folded.fold.exact);
    CHECK(folded.iterations_ps == whole.iterations_ps);
    CHECK(folded.fingerprint == whole.fingerprint);
    CHECK(folded.time == whole.time);
    CHECK(run(loaded, 1).fingerprint == folded.fingerprint);
    CHECK(run(loaded, 2).iteration_ps() != folded.iteration_ps());
  }
}

TEST_CASE("jitter: more replicas -> slower on average") {
  for (const bool folds : {false, true}) {
    double before = 0;
    for (const int hosts : {4, 16, 64, 256}) {
      if (!folds && hosts == 256) continue;
      command::LoadedJob loaded = job_of(on_stages, hosts);
      double slowdown = 0;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) slowdown += seconds(run(loaded, seed, folds));
      loaded.job.jitter = {};
      slowdown /= 5 * seconds(run(loaded, 1));
      CAPTURE(hosts);
      CHECK(slowdown > 1);
      CHECK(slowdown > before);
      before = slowdown;
    }
  }
}

TEST_CASE("jitter: a rank much slower than all -> nothing is added for replicas not run") {
  // Rank 481, of replica 97. Its transfers meet others on the way: 0.06 %; the deviation between
  // the others would add 0.2 %.
  command::LoadedJob loaded =
      job_of(on_stages, 64, "stragglers: [{part: h60.gpu1, compute: 60 %}]\n");
  const Result sampled = run(loaded, 1), whole = run(loaded, 1, false);
  CHECK_FALSE(sampled.fold.exact);
  CHECK(seconds(sampled) == approximately(seconds(whole), 1e-3));
}

TEST_CASE("jitter: segments and operators -> the same draws, within 0.1 %") {
  for (const char* dnn_and_plan : {on_tensor_ranks, on_stages}) {
    command::LoadedJob loaded = job_of(dnn_and_plan, 4);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      loaded.job.fidelity = training::Fidelity::segments;
      const double merged = seconds(run(loaded, seed));
      loaded.job.fidelity = training::Fidelity::operators;
      CHECK(merged == approximately(seconds(run(loaded, seed)), 1e-3));
    }
  }
}
