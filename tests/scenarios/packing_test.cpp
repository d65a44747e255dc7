// Packed documents: the law T = a N + b sum l^2, folded as with every rank run, and who is blamed.
#include <fmt/format.h>

#include <cmath>

#include "sim/command/attribution.h"
#include "tests/scenarios/folded_jobs.h"

using namespace sim;

namespace {

// An ideal device computes 10^15 FLOP/s. Forward, attention takes 2 * 2 * 128 FLOPs of a pair and
// head, of which a causal document of l tokens has l^2 / 2; backward 2.5 times as much. Two layers
// of eight heads: 7 * 128 * 8 * 2 FLOPs for each squared token.
constexpr double picoseconds_per_square = 7.0 * 128 * 8 * 2 / 1000;

std::string ideal_job(int devices, int global_batch, const std::string& packing) {
  std::string text = "maquette: 1\nname: packed\ncluster:\n  switches: [s]\n  devices:\n";
  for (int i = 0; i < devices; ++i) text += fmt::format("    - {{name: d{}, type: ideal}}\n", i);
  text += "  links:\n";
  for (int i = 0; i < devices; ++i) {
    text += fmt::format("    - {{from: d{}, to: s, capacity: 50 GB/s, latency: 0 s}}\n", i);
  }
  text += "dnn: {layers: 2, hidden: 1024, heads: 8, head_size: 128, ffn: 4096, vocabulary: 512}\n";
  text += fmt::format(
      "stack: {{base: ideal, overlaps_gradient_reduction: false}}\ntraining: {{sequence: 16384, "
      "global_batch: {}, packing: {}}}\n",
      global_batch, packing);
  return text;
}

struct Answer {
  scenario::Scenario scenario;
  Picoseconds iteration = 0;
};

Answer answer(const std::string& text) {
  Answer result;
  each_scenario(
      1, [&](unsigned) { return text; },
      [&](const std::filesystem::path& file) {
        const ScenarioRun run = run_scenario(file);
        result = {run.scenario, run.result.iteration_ps()};
      });
  return result;
}

double sum_of(const plan::PackedBatch& batch, std::int64_t replica) {
  double sum = 0;
  for (const int draw : batch.of_replica(replica)) {
    sum += batch.sums[static_cast<std::size_t>(draw)];
  }
  return sum;
}

// Below 4000 tokens a device would wait for its memory instead.
constexpr const char* long_documents = "{lengths: {uniform: {from: 5000, to: 16384}}}";
constexpr const char* long_tail = "{lengths: {lognormal: {median: 2000, sigma: 1.2}}}";

}  // namespace

// Documents that fill their sequence cost what a sequence without packing does; halves cost half of
// its attention. 4 operators a micro-batch are rounded to picoseconds.
TEST_CASE("packing: one device, time = a N + b sum l^2") {
  const Picoseconds whole = answer(ideal_job(1, 4, "{lengths: {fixed: 16384}}")).iteration;
  const Picoseconds halves = answer(ideal_job(1, 4, "{lengths: {fixed: 8192}}")).iteration;
  const double saved = 4 * 16384.0 * 16384.0 / 2 * picoseconds_per_square;
  CHECK(std::abs(static_cast<double>(whole - halves) - saved) <= 16);
  const Answer drawn = answer(ideal_job(1, 4, long_documents));
  const double sum = sum_of(plan::packed_batch(drawn.scenario.plan), 0);
  CHECK(sum < 4 * 16384.0 * 16384.0);
  const double less = (4 * 16384.0 * 16384.0 - sum) * picoseconds_per_square;
  CHECK(std::abs(static_cast<double>(whole - drawn.iteration) - less) <= 16);
}

// Replicas meet once, to reduce gradients: the one with the largest sum is waited for. Alike, they
// take what any one does.
TEST_CASE("packing: the replica with the largest sum of squares sets the time") {
  const auto job = [](const char* replicas) {
    return ideal_job(
               4, 16,
               fmt::format("{{lengths: {{uniform: {{from: 5000, to: 16384}}}}, replicas: {}}}",
                           replicas)) +
           "plan: {data: {degree: 4}}\n";
  };
  const Answer independent = answer(job("independent")), same = answer(job("same"));
  const plan::PackedBatch batch = plan::packed_batch(independent.scenario.plan);
  double largest = 0;
  for (std::int64_t r = 0; r < 4; ++r) largest = std::max(largest, sum_of(batch, r));
  const double of_all_alike = sum_of(plan::packed_batch(same.scenario.plan), 0);
  CHECK(largest != of_all_alike);
  const double later = (largest - of_all_alike) * picoseconds_per_square;
  CHECK(std::abs(static_cast<double>(independent.iteration - same.iteration) - later) <= 16);
}

// Healing lengths gives the ideal; beside them a device that is hardly slow explains next to
// nothing.
TEST_CASE("packing: attribution blames lengths, not workers") {
  const auto blamed = [](const std::string& text) {
    command::Attribution result;
    each_scenario(
        1, [&](unsigned) { return text; },
        [&](const std::filesystem::path& file) {
          Diagnostics diagnostics;
          const auto read = scenario::read_scenario(file, {}, command::catalog(), diagnostics);
          INFO(diagnostics.text());
          REQUIRE(read);
          auto outcome = command::attribution(*read);
          result = std::get<command::Attribution>(std::move(outcome));
        });
    return result;
  };
  const std::string job = ideal_job(4, 8, long_tail) + "plan: {data: {degree: 4}}\n";
  const auto alone = blamed(job);
  CHECK(alone.slowdown() > 1.01);
  REQUIRE(alone.one.size() == 1);
  CHECK(alone.one[0].what == "lengths of documents");
  CHECK(alone.explains(alone.one[0]) == 1);
  const auto both = blamed(job + "stragglers: [{part: d2, compute: 99.9 %}]\n");
  REQUIRE(both.one.size() == 2);
  CHECK(both.explains(both.one[0]) < 0.05);
  CHECK(both.explains(both.one[1]) > 0.9);
}

namespace {

class RandomPacking : Choices {
 public:
  explicit RandomPacking(unsigned seed) : Choices(seed) {}

  std::string text() {
    const int tensor = pick<int>({1, 2, 4}), stages = pick<int>({1, 2, 4});
    const int context = pick<int>({1, 1, 1, 2});
    const int hosts = pick<int>({4, 8}), data = hosts * 8 / (tensor * stages * context);
    std::string text = fmt::format(
        "maquette: 1\nname: random packing\ncluster:\n"
        "  hosts: [{{name: h, count: {}, type: hgx-h100}}]\n"
        "  fabric: {{kind: {}, link: 400 Gbit/s, latency: 0.6 us}}\n"
        "dnn: {{layers: 8, hidden: 512, heads: 8, head_size: 64, kv_heads: 4, ffn: 1024, "
        "vocabulary: 1024}}\n",
        hosts, pick<const char*>({"one-switch", "rail-optimized, hosts_per_group: 4"}));
    const char* schedule = pick<const char*>({"1f1b", "zb-h1", "dual-pipe", "pipedream-2bw"});
    if (stages == 1) schedule = "1f1b";
    text += fmt::format(
        "stack: {}\ntraining: {{sequence: 4096, global_batch: {}, micro_batch: {},\n"
        "  packing: {{lengths: {}, draw: {}, replicas: {}, seed: {}}}}}\n",
        pick<const char*>({"megatron-core", "fsdp"}), data * 2 * 2 * stages, pick<int>({1, 2}),
        pick<const char*>({"{fixed: 1000}", "{uniform: {from: 1, to: 4096}}",
                           "{lognormal: {median: 900, sigma: 1}}",
                           "{histogram: [{tokens: 512, documents: 1}, {tokens: 4096, documents: "
                           "1}]}"}),
        pick<const char*>({"fixed", "per-micro-batch"}), pick<const char*>({"same", "independent"}),
        below(100));
    text += fmt::format(
        "plan: {{tensor: {}, context: {}, context_kind: {}, pipeline: {{stages: {}, schedule: "
        "{}}}, recompute: {}}}\n",
        tensor, context, tensor < 4 ? pick<const char*>({"ring", "ulysses"}) : "ring", stages,
        schedule, pick<const char*>({"none", "selective", "full"}));
    const char* slow =
        pick<const char*>({"", "", "stragglers: [{part: h1.gpu2, compute: 80 %}]\n"});
    return text + slow +
           fmt::format("run: {{fidelity: {}}}\n", pick<const char*>({"segments", "operators"}));
  }
};

}  // namespace

TEST_CASE("packing: folded and with every rank run are equal to the last bit") {
  std::int64_t folded_ranks = 0;
  each_scenario(
      24, [](unsigned seed) { return RandomPacking(seed).text(); },
      [&](const std::filesystem::path& file) {
        const Both both = run_both(file);
        check_equal(both.folded, both.whole);
        REQUIRE(both.folded.hardware_flops_per_iteration ==
                both.whole.hardware_flops_per_iteration);
        folded_ranks += both.folded.fold.rank_classes < both.folded.fold.ranks;
      });
  CHECK(folded_ranks >= 12);
}

// Alike, a job of 32 replicas is run as one with a few; each with lengths of its own, as all of
// them.
TEST_CASE("packing: replicas with the same lengths fold") {
  const auto classes = [](const char* replicas) {
    std::int64_t result = 0;
    std::string text = fmt::format(
        "maquette: 1\nname: many\ncluster:\n  hosts: [{{name: h, count: 8, type: hgx-h100}}]\n"
        "  fabric: {{kind: one-switch, link: 400 Gbit/s, latency: 0.6 us}}\n"
        "dnn: {{name: llama-3.1-8b}}\nstack: megatron-core\n"
        "training: {{sequence: 8192, global_batch: 128, packing: {{replicas: {}, lengths: "
        "{{lognormal: {{median: 1500, sigma: 1}}}}}}}}\nplan: {{tensor: 2}}\n",
        replicas);
    each_scenario(
        1, [&](unsigned) { return text; },
        [&](const std::filesystem::path& file) {
          result = run_scenario(file).result.fold.rank_classes;
        });
    return result;
  };
  CHECK(classes("same") <= 4);
  CHECK(classes("independent") == 32);
}

// What README.md shows: a device at 97 % costs less than the lengths do.
TEST_CASE("packing: the worked scenario is kept waiting by its lengths") {
  Diagnostics diagnostics;
  const auto read = scenario::read_scenario(repository() / "scenarios/packed.yaml", {},
                                            command::catalog(), diagnostics);
  REQUIRE(read);
  const auto outcome = command::attribution(*read);
  const auto& a = std::get<command::Attribution>(outcome);
  REQUIRE(a.one.size() == 2);
  CHECK(a.one[1].what == "lengths of documents");
  CHECK(a.explains(a.one[1]) > 0.5);
  CHECK(a.explains(a.one[0]) < 0.5);
}
