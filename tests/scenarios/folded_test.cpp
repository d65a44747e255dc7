// Jobs of which one rank a class is run against the same jobs with every rank run.
#include <fmt/format.h>

#include "tests/scenarios/folded_jobs.h"

using namespace sim;

namespace {

struct Shape {
  const char* host;
  int devices;
};

class RandomScenario : Choices {
 public:
  explicit RandomScenario(unsigned seed) : Choices(seed) {}

  std::string text() {
    const Shape shape = pick<Shape>({{"hgx-h100", 8},
                                     {"hgx-h100", 8},
                                     {"dgx-a100", 8},
                                     {"l40s-pcie", 8},
                                     {"mi300x", 8},
                                     {"gb200-nvl72", 4}});
    const int unit = std::string(shape.host) == "gb200-nvl72" ? 18 : 1;
    const int tensor = pick<int>({1, 2, 4, 8});
    const int stages = tensor == 1 ? pick<int>({1, 2, 3, 4}) : pick<int>({1, 2, 4});
    int hosts = unit * pick<int>({1, 2, 4, 6, 8, 12, 16, 24});
    while (hosts * shape.devices % (tensor * stages) != 0) hosts += unit;
    const int ranks = hosts * shape.devices, data = ranks / tensor / stages;
    const int spare = below(4) == 0 ? 1 : 0;
    std::string text = "maquette: 1\nname: random\ncluster:\n  hosts:\n";
    const bool is_mixed = unit == 1 && below(5) == 0 && hosts > 1 && shape.devices == 8;
    const int first = is_mixed ? 1 + below(hosts - 1) : hosts;
    const int last = hosts - first + (unit == 1 ? spare : 0);
    text += fmt::format("    - {{name: h, count: {}, type: {}}}\n",
                        first + (is_mixed || unit > 1 ? 0 : spare), shape.host);
    if (is_mixed) text += fmt::format("    - {{name: g, count: {}, type: hgx-h200}}\n", last);
    text += fabric();
    if (spare && unit == 1) text += "  spares: 1\n";
    text += tensor == 1 ? "dnn: {timed: {layers: 24, forward: 1 ms, backward: 2 ms, "
                          "backward_weight: 1 ms, parameters: 40 MB, boundary: 8 MB}}\n"
                        : "dnn: {name: llama-3.2-1b}\n";
    text += "stack: {base: megatron-core}\n";
    const std::string schedule =
        stages % 2 == 1
            ? "1f1b"
            : pick<const char*>({"1f1b", "1f1b", "1f1b", "gpipe",
                                 "interleaved-1f1b, virtual_stages: 2", "zb-h1", "zb-h2", "zb-v",
                                 "zb-1p", "zb-2p", "dual-pipe", "dual-pipe-v", "pipedream-2bw",
                                 "wave-synchronous, staleness: 1"});
    const bool is_v = schedule == "zb-v" || schedule.find("dual") == 0;
    const int micro_batches = is_v ? 2 * stages + 2 * below(2) : stages + below(3);
    text += fmt::format("training: {{sequence: 128, global_batch: {}, micro_batch: 1}}\n",
                        data * micro_batches);
    text += fmt::format(
        "plan: {{tensor: {}, pipeline: {{stages: {}, schedule: {}}}, data: {{sharding: {}}}}}\n",
        tensor, stages, schedule,
        schedule == "dual-pipe" ? pick<const char*>({"none", "zero-1"})
                                : pick<const char*>({"none", "zero-1", "zero-1", "zero-3"}));
    text += fmt::format(
        "placement: {{order: [{}]}}\n",
        pick<const char*>({"tensor, context, data, pipeline", "tensor, context, pipeline, data",
                           "data, tensor, context, pipeline", "pipeline, tensor, context, data",
                           "tensor, context, data, pipeline"}));
    text += "run: {iterations: 2}\n";
    return text + stragglers(first, shape);
  }

  // Collectives of all devices, one after the other or at the same time.
  std::string collectives() {
    const Shape shape = pick<Shape>({{"hgx-h100", 8}, {"l40s-pcie", 8}, {"gb200-nvl72", 4}});
    const int hosts = 18 * pick<int>({1, 2, 3, 4, 8}), others = below(4) == 0 ? 2 + below(20) : 0;
    std::string text = fmt::format(
        "maquette: 1\nname: random\ncluster:\n  hosts:\n    - {{name: h, count: {}, type: {}}}\n",
        hosts, shape.host);
    const bool is_mixed = others > 0 && shape.devices == 8;
    if (is_mixed) text += fmt::format("    - {{name: g, count: {}, type: hgx-h200}}\n", others);
    text += fabric() + "operations:\n";
    for (int i = 0; i <= below(3); ++i) {
      text +=
          fmt::format("  - {{name: o{}, collective: {}, bytes: {} MiB, devices: [\"h*.gpu*\"{}]{}",
                      i, pick<const char*>({"all-reduce", "all-gather", "reduce-scatter"}),
                      pick<int>({1, 64, 1024}), is_mixed ? ", \"g*.gpu*\"" : "",
                      pick<const char*>({", algorithm: hierarchical", ", algorithm: hierarchical",
                                         ", algorithm: ring", ""}));
      text += i > 0 && below(2) == 0 ? fmt::format(", after: [o{}]}}\n", i - 1) : "}\n";
    }
    return text + "run: {iterations: 2}\n" + stragglers(hosts, shape);
  }

 private:
  std::string fabric() {
    const char* kind =
        pick<const char*>({"one-switch", "leaf-spine", "rail-optimized", "fat-tree"});
    std::string text = fmt::format("  fabric: {{kind: {}, link: 400 Gbit/s, latency: 0.6 us", kind);
    if (std::string(kind) != "one-switch") {
      text += fmt::format(", hosts_per_group: {}, oversubscription: {}",
                          pick<int>({1, 2, 3, 4, 8, 64}), pick<int>({1, 2, 4}));
    }
    if (std::string(kind) == "fat-tree") text += below(2) == 0 ? ", leaves_per_pod: 2" : "";
    return text + "}\n";
  }
  std::string stragglers(int hosts, const Shape& shape) {
    std::string text;
    for (int i = below(4); i > 0; --i) {
      const int host = below(hosts), device = below(shape.devices);
      text += text.empty() ? "stragglers:\n" : "";
      const char* when = below(3) == 0 ? ", from: 20 ms, to: 45 ms" : "";
      text += pick<std::string>(
          {fmt::format("  - {{part: h{}.gpu{}, compute: 80 %{}}}\n", host, device, when),
           fmt::format("  - {{part: h{}.gpu{}, compute: 70 %, memory: 60 %{}}}\n", host, device,
                       when),
           fmt::format("  - {{part: h{}.nic0, link: 30 %{}}}\n", host, when)});
    }
    return text;
  }
};

// visit(file) for so many random scenarios.
template <class Visit>
void each_random_scenario(unsigned count, std::string (RandomScenario::*write)(), Visit visit) {
  each_scenario(
      count, [&](unsigned seed) { return (RandomScenario(seed).*write)(); }, visit);
}

}  // namespace

TEST_CASE("folded jobs: 250 random ones -> all of the result as with every rank run") {
  int folded = 0;
  each_random_scenario(250, &RandomScenario::text, [&](const std::filesystem::path& file) {
    const Both both = run_both(file);
    check_equal(both.folded, both.whole);
    folded += both.folded.fold.rank_classes * 2 < both.folded.fold.ranks;
  });
  CHECK(folded > 150);
}

TEST_CASE("folded jobs: 20 random ones with jitter -> as with every rank run; a sample runs too") {
  int sampled = 0;
  each_random_scenario(20, &RandomScenario::text, [&](const std::filesystem::path& file) {
    const Both both = run_both(file, {{"run.jitter.device", "2 %"},
                                      {"run.jitter.operation", "3 %"},
                                      {"run.jitter.replicas", "1000000"}});
    check_equal(both.folded, both.whole);
    REQUIRE(both.folded.fold.exact);
    const auto few =
        run_scenario(file, {{"run.jitter.device", "2 %"}, {"run.jitter.replicas", "2"}}).result;
    sampled += !few.fold.exact;
  });
  CHECK(sampled > 3);
}

TEST_CASE("folded operations: 150 random collectives of all devices -> as with every device") {
  each_random_scenario(150, &RandomScenario::collectives, [&](const std::filesystem::path& file) {
    const Both both = run_both(file);
    check_equal(both.folded, both.whole);
  });
}

TEST_CASE("folded jobs: every worked scenario and the quickstart, as with every rank run") {
  auto files = scenario_files("scenarios/worked");
  files.push_back(repository() / "scenarios/quickstart.yaml");
  for (const auto& file : files) {
    CAPTURE(file.filename().string());
    const Both both = run_both(file);
    check_equal(both.folded, both.whole);
  }
}

TEST_CASE("folded jobs: more ranks than may be run one by one are refused, unless few are run") {
  Diagnostics diagnostics;
  const auto file = repository() / "scenarios/scale/16k.yaml";
  const auto read = scenario::read_scenario(file, {}, command::catalog(), diagnostics);
  REQUIRE(read);
  auto loaded = command::load(*read, diagnostics);
  REQUIRE(loaded);
  loaded->job.ranks_max = 1000;
  CHECK(std::holds_alternative<training::Result>(training::simulate(loaded->job)));
  loaded->job.folds = false;
  const auto outcome = training::simulate(loaded->job);
  const auto* refused = std::get_if<training::TooLarge>(&outcome);
  REQUIRE(refused);
  CHECK(refused->ranks == 16384);
  CHECK(refused->most == 1000);
}

TEST_CASE("folded jobs: where a hash chooses the paths, fewer do the same, and it is still exact") {
  const auto file = repository() / "scenarios/quickstart.yaml";
  const auto classes = [&](const char* routing) {
    const std::vector<scenario::Override> overrides = {
        {"cluster.fabric", fmt::format("{{kind: leaf-spine, hosts_per_group: 1, link: 400 Gbit/s, "
                                       "latency: 0.6 us, oversubscription: 4, routing: {}}}",
                                       routing)}};
    const training::Result folded = run_scenario(file, overrides).result;
    check_equal(folded, run_scenario(file, overrides, false, false).result);
    return folded.fold.rank_classes;
  };
  CHECK(classes("sprayed") < classes("hashed"));
}

TEST_CASE("folded jobs: leaves and pods of many terabytes a second") {
  const auto file = repository() / "scenarios/quickstart.yaml";
  const std::vector<scenario::Override> overrides = {
      {"cluster.hosts.0.count", "128"},
      {"training.global_batch", "512"},
      {"cluster.fabric",
       "{kind: fat-tree, hosts_per_group: 16, leaves_per_pod: 4, link: 400 Gbit/s, "
       "latency: 0.6 us, oversubscription: 1}"}};
  check_equal(run_scenario(file, overrides).result,
              run_scenario(file, overrides, false, false).result);
}
