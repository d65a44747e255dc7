// Jobs on a torus and a dragonfly: folded as with every rank run, to the last bit.
#include <fmt/format.h>

#include "tests/scenarios/folded_jobs.h"

using namespace sim;

namespace {

struct Case {
  const char* fabric;
  int hosts;
};

// Data-parallel traffic over the fabric in all; a slow device or cable in every second one.
std::string text_of(unsigned seed) {
  const std::vector<Case> cases = {
      {"kind: torus, dimensions: [4, 2], hosts_per_group: 1", 8},
      {"kind: torus, dimensions: [3, 3], hosts_per_group: 2, routing: hashed", 18},
      {"kind: torus, dimensions: [2, 3, 2], hosts_per_group: 1", 12},
      {"kind: dragonfly, groups: 3, routers_per_group: 2, global_links: 1, hosts_per_group: 2", 12},
      {"kind: dragonfly, groups: 4, routers_per_group: 3, global_links: 1, hosts_per_group: 1",
       12}};
  const Case& one = cases[seed / 2 % cases.size()];
  const int tensor = seed < 10 ? 8 : 2, stages = 2;
  const int data = one.hosts * 8 / tensor / stages;
  std::string text = fmt::format(
      "maquette: 1\ncluster:\n  hosts: [{{name: h, count: {}, type: hgx-h100}}]\n"
      "  fabric: {{{}, link: 200 Gbit/s, latency: 0.6 us}}\n"
      "dnn: {{name: llama-3.2-1b}}\nstack: megatron-core\n"
      "training: {{sequence: 128, global_batch: {}, micro_batch: 1}}\n"
      "plan: {{tensor: {}, pipeline: {{stages: {}}}, data: {{sharding: {}}}}}\n",
      one.hosts, one.fabric, 4 * data, tensor, stages, seed % 3 == 0 ? "none" : "zero-1");
  if (seed % 2 == 1) {
    text += "stragglers:\n  - {part: router1, link: 50 %}\n  - {part: h3.gpu1, compute: 80 %}\n";
  }
  return text;
}

}  // namespace

TEST_CASE(
    "direct fabrics: folded and with every rank run are the same, with and without slow parts") {
  each_scenario(20, text_of, [](const std::filesystem::path& file) {
    const Both both = run_both(file);
    check_equal(both.folded, both.whole);
  });
}

TEST_CASE("direct fabrics: a slow router costs time") {
  double quick = 0, slow = 0;
  each_scenario(2, text_of, [&](const std::filesystem::path& file) {
    (quick == 0 ? quick : slow) = static_cast<double>(run_scenario(file).result.iteration_ps());
  });
  CHECK(slow > quick);
}
