// Jobs whose replicas leaves and pods cut anywhere, against the same jobs with every rank run.
#include "sim/training/job_system.h"
#include "sim/training/replica_plan.h"
#include "tests/scenarios/folded_jobs.h"

using namespace sim;

namespace {

class UnevenScenario : Choices {
 public:
  explicit UnevenScenario(unsigned seed) : Choices(seed) {}

  std::string text() {
    host_ = pick<const char*>(
        {"hgx-h100", "hgx-h100", "dgx-a100", "l40s-pcie", "mi300x", "gb200-nvl72"});
    const bool has_domains = std::string(host_) == "gb200-nvl72";
    devices_ = has_domains ? 4 : 8;
    const int unit = has_domains ? 18 : 1;
    const int tensor = pick<int>({1, 1, 2, 3, 4, 4});
    const int stages = pick<int>({1, 2, 2, 3, 3, 4, 5, 6, 7, 12});
    // As few hosts as a whole number of replicas fills, times some.
    int hosts = unit;
    while (hosts * devices_ % (tensor * stages) != 0) hosts += unit;
    hosts *= std::max(1, (16 + below(24)) / hosts);
    const int data = hosts * devices_ / tensor / stages;
    const int border = below(5) == 0 && !has_domains && hosts > 1 ? 1 + below(hosts - 1) : 0;
    hosts_ = border > 0 ? border : hosts;
    std::string text = "maquette: 1\nname: random\ncluster:\n  hosts:\n";
    text += fmt::format("    - {{name: h, count: {}, type: {}}}\n", hosts_, host_);
    if (border > 0) {
      text += fmt::format("    - {{name: g, count: {}, type: hgx-h200}}\n", hosts - border);
    }
    text += fabric(hosts);
    text += tensor == 1 ? "dnn: {timed: {layers: 12, forward: 1 ms, backward: 2 ms, parameters: "
                          "40 MB, boundary: 8 MB}}\n"
                        : "dnn: {name: opt-125m}\n";
    text += "stack: {base: megatron-core}\n";
    text += fmt::format("training: {{sequence: 96, global_batch: {}, micro_batch: 1}}\n",
                        data * (1 + below(3)));
    text += fmt::format("plan: {{tensor: {}, pipeline: {{stages: {}}}, data: {{sharding: {}}}}}\n",
                        tensor, stages,
                        pick<const char*>({"none", "zero-1", "zero-1", "zero-1", "zero-3"}));
    text += fmt::format(
        "placement: {{order: [{}]}}\n",
        pick<const char*>({"tensor, context, data, pipeline", "tensor, context, pipeline, data",
                           "tensor, context, pipeline, data", "data, tensor, context, pipeline",
                           "pipeline, tensor, context, data", "pipeline, data, tensor, context",
                           "tensor, data, pipeline, context"}));
    text += "run: {iterations: 2}\n";
    return text + stragglers();
  }

 private:
  std::string fabric(int hosts) {
    kind_ = pick<const char*>({"leaf-spine", "rail-optimized", "rail-optimized", "fat-tree"});
    const int under_leaf = pick<int>({1, 2, 3, 4, 5, 7, 8});
    leaves_ = (hosts - 1) / under_leaf + 1;
    groups_ = leaves_;
    if (kind_ == "rail-optimized" && host_[1] == 'g') leaves_ *= 8;  // one for each of its NICs
    std::string text = fmt::format(
        "  fabric: {{kind: {}, link: 400 Gbit/s, latency: 0.6 us, hosts_per_group: {}, "
        "oversubscription: {}",
        kind_, under_leaf, pick<int>({1, 1, 2}));
    if (kind_ == "fat-tree" && below(3) > 0) {
      text += fmt::format(", leaves_per_pod: {}", pick<int>({2, 3}));
    }
    return text + "}\n";
  }
  std::string stragglers() {
    std::string text;
    for (int i = below(4); i > 0; --i) {
      const int host = below(hosts_), device = below(devices_);
      text += text.empty() ? "stragglers:\n" : "";
      const char* when = below(3) == 0 ? ", from: 2 ms, to: 4 ms" : "";
      std::vector<std::string> kinds = {
          fmt::format("  - {{part: h{}.gpu{}, compute: 80 %{}}}\n", host, device, when),
          fmt::format("  - {{part: h{}.gpu{}, compute: 70 %, memory: 60 %{}}}\n", host, device,
                      when),
          fmt::format("  - {{part: h{}.nic0, link: 30 %{}}}\n", host, when)};
      if (groups_ > 1) {
        kinds.push_back(fmt::format("  - {{part: leaf{}.{}, link: {} %{}}}\n", below(leaves_),
                                    pick<const char*>({"up", "down"}), pick<int>({10, 40}), when));
      }
      text += pick<std::string>(kinds);
    }
    return text;
  }

  const char* host_ = "";
  std::string kind_;
  int devices_ = 8, hosts_ = 0, groups_ = 0, leaves_ = 0;
};

// Whether replicas are left out.
bool is_uneven(const std::filesystem::path& file) {
  Diagnostics diagnostics;
  const auto read = scenario::read_scenario(file, {}, command::catalog(), diagnostics);
  INFO(diagnostics.text());
  REQUIRE(read);
  auto loaded = command::load(*read, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(loaded);
  const plan::RankGrid grid(loaded->job.plan);
  return training::replica_plan(loaded->job, grid, true).uneven &&
         training::job_system(loaded->job).is_uneven;
}

void check_one(const std::string& text, bool uneven) {
  each_scenario(
      1, [&](unsigned) { return text; },
      [&](const std::filesystem::path& file) {
        REQUIRE(is_uneven(file) == uneven);
        const Both both = run_both(file);
        check_equal(both.folded, both.whole);
      });
}

}  // namespace

TEST_CASE("uneven replicas: 140 random jobs -> those with some left out, as with every rank run") {
  int left_out = 0;
  each_scenario(
      140, [](unsigned seed) { return UnevenScenario(seed).text(); },
      [&](const std::filesystem::path& file) {
        if (!is_uneven(file)) return;
        ++left_out;
        const Both both = run_both(file);
        check_equal(both.folded, both.whole);
      });
  CHECK(left_out > 20);
}

TEST_CASE("uneven replicas: a ring that closes inside a domain -> the links of its hosts") {
  // 180 devices a run are two domains of 72 and a half; four members in the first host.
  const std::string text = R"(maquette: 1
name: domains
cluster:
  hosts:
    - {name: h, count: 90, type: gb200-nvl72}
  fabric: {kind: leaf-spine, link: 400 Gbit/s, latency: 0.6 us, hosts_per_group: 5}
dnn: {timed: {layers: 12, forward: 1 ms, backward: 2 ms, parameters: 40 MB, boundary: 8 MB}}
stack: {base: megatron-core}
training: {sequence: 96, global_batch: 360, micro_batch: 1}
plan: {tensor: 1, pipeline: {stages: 2}, data: {sharding: zero-1}}
placement: {order: [tensor, context, data, pipeline]}
run: {iterations: 2}
)";
  check_one(text, true);
}

TEST_CASE("uneven replicas: groups of which some reduce along trees -> every rank is run") {
  // Of 6 ranks in a row and hosts of 8, some groups have two members in their first host and
  // choose rings, others have one.
  const std::string text = R"(maquette: 1
name: trees
cluster:
  hosts:
    - {name: h, count: 72, type: mi300x}
  fabric: {kind: rail-optimized, link: 400 Gbit/s, latency: 0.6 us, hosts_per_group: 5}
dnn: {name: opt-125m}
stack: {base: megatron-core}
training: {sequence: 96, global_batch: 48, micro_batch: 1}
plan: {tensor: 6, pipeline: {stages: 2}, data: {sharding: none}}
placement: {order: [tensor, context, data, pipeline]}
run: {iterations: 2}
)";
  check_one(text, false);
}
