// Jobs that offload: folded and with every rank run, and how hosts' resources bound them.
#include <cmath>

#include "tests/approximately.h"
#include "tests/scenarios/folded_jobs.h"

using namespace sim;

namespace {

std::filesystem::path written(const std::string& plan, int hosts, const std::string& rest = "") {
  const auto file = std::filesystem::temp_directory_path() / "maquette-offload-test.yaml";
  std::ofstream(file) << fmt::format(
      "maquette: 1\nname: offload\ncluster:\n  hosts: [{{name: h, count: {}, type: dgx-a100}}]\n"
      "  fabric: {{kind: rail-optimized, hosts_per_group: 4, link: 200 Gbit/s, latency: 0.6 us}}\n"
      "dnn: {{name: llama-3.2-1b}}\nstack: megatron-core\n"
      "training: {{sequence: 1024, global_batch: {}, micro_batch: 1}}\nplan: {{{}}}\n{}",
      hosts, hosts * 16, plan, rest);
  return file;
}

}  // namespace

TEST_CASE("offload: folded and whole are the same to the last bit") {
  const char* const plans[] = {
      "data: {sharding: zero-1}, offload: {optimizer: host}",
      "tensor: 2, data: {sharding: zero-3}, offload: {optimizer: 50 %, activations: 25 %}",
      "tensor: 2, pipeline: {stages: 2}, data: {sharding: zero-1}, recompute: full, "
      "offload: {optimizer: host, activations: host, buffers: 1}",
      "pipeline: {stages: 2, schedule: interleaved-1f1b, virtual_stages: 2}, "
      "data: {sharding: zero-2}, offload: {activations: host, optimizer: host}",
      "data: {sharding: zero-3, shard_degree: 8}, offload: {optimizer: host}"};
  for (const char* plan : plans) {
    for (const char* rest : {"", "stragglers: [{part: h1.memory0, link: 10 %}]\n",
                             "stragglers: [{part: h2.gpu3.pcie.in, link: 25 %, from: 20 ms}]\n"}) {
      CAPTURE(plan);
      CAPTURE(rest);
      const Both both = run_both(written(plan, 8, rest));
      check_equal(both.folded, both.whole);
      CHECK(both.folded.time[static_cast<std::size_t>(training::Category::exposed_offload)] > 0);
    }
  }
}

TEST_CASE("offload: many hosts fold to few") {
  const auto file = written("data: {sharding: zero-1}, offload: {optimizer: host}", 64);
  const training::Result result = run_scenario(file).result;
  CHECK(result.fold.rank_classes <= 8);
}

// A step reads and writes 30 bytes of each parameter that the host's ranks hold, all of them with
// one replica a device and nothing sharded.
TEST_CASE("offload: a step takes what the cores of a socket need for its ranks") {
  const auto file = written("data: {sharding: none}, offload: {optimizer: host}", 1);
  const training::Result result = run_scenario(file).result;
  const double parameters = result.host_memory->used.parameters.value() / 2 / 8;
  // Four ranks a socket, 64 cores at 2.5 GB/s.
  const double expected = 4 * parameters * 30 / 160e9;
  const auto step = result.time[static_cast<std::size_t>(training::Category::optimizer)];
  // Beside the stack's fixed time of a step.
  CHECK(static_cast<double>(step) * 1e-12 > expected);
  CHECK(static_cast<double>(step) * 1e-12 < expected + 0.1);
}

TEST_CASE("offload: slow host memory makes it slower, a fast one no faster than its cores") {
  const std::string plan = "data: {sharding: zero-1}, offload: {optimizer: host}";
  const auto time = [&](const char* rest) {
    return run_scenario(written(plan, 1, rest)).result.iteration_ps();
  };
  const auto normal = time("");
  CHECK(time("stragglers: [{part: \"h0.memory*\", link: 20 %}]\n") > normal);
  CHECK(time("stragglers: [{part: \"h0.cores1\", link: 50 %}]\n") > normal);
}

TEST_CASE("offload: host memory that is too small does not fit") {
  const auto file = written("data: {sharding: none}, offload: {optimizer: host}", 1);
  Diagnostics diagnostics;
  auto read = scenario::read_scenario(file, {}, command::catalog(), diagnostics);
  REQUIRE(read);
  for (const double memory : {1e12, 1e11}) {
    read->cluster.hosts[0].type.memory = Bytes(memory);
    auto loaded = command::load(*read, diagnostics);
    REQUIRE(loaded);
    const auto outcome = training::simulate(loaded->job);
    const auto& result = std::get<training::Result>(outcome);
    // 18 bytes of each of some 1.2 billion parameters, for each of 8 ranks: some 180 GB.
    CHECK(result.fits == (memory > 2e11));
    CHECK(result.host_memory->fits() == result.fits);
    CHECK(result.host_memory->ranks == 8);
  }
}
