// Jobs with context and expert groups: folded as with every rank run, by pieces as by operators,
// and their answers where cutting changes nothing.
#include <fmt/format.h>

#include "tests/scenarios/folded_jobs.h"

using namespace sim;

namespace {

constexpr const char* moe =
    "dnn: {layers: 4, hidden: 512, heads: 8, head_size: 64, kv_heads: 4, ffn: 1024, vocabulary: "
    "1024, experts: {count: 8, per_token: 2, ffn: 256, shared_ffn: 256, dense_first: 1}, "
    "prediction_modules: 1}\n";
constexpr const char* dense =
    "dnn: {layers: 4, hidden: 512, heads: 8, head_size: 64, kv_heads: 4, ffn: 1024, vocabulary: "
    "1024}\n";

class RandomGroups : Choices {
 public:
  explicit RandomGroups(unsigned seed) : Choices(seed) {}

  std::string text() {
    const bool has_experts = below(3) > 0;
    const int tensor = pick<int>({1, 1, 2, 4}), context = pick<int>({1, 1, 2, 4});
    const int stages = pick<int>({1, 2, 4});
    int hosts = pick<int>({1, 2, 4, 6, 8});
    while (hosts * 8 % (tensor * context * stages) != 0) ++hosts;
    const int data = hosts * 8 / (tensor * context * stages);
    const int in_stage = tensor * context * data;
    int degree = pick<int>({1, 2, 4, 8}), expert_tensor = pick<int>({1, 1, 2});
    while (in_stage % (degree * expert_tensor) != 0) degree = expert_tensor = 1;
    std::string text = "maquette: 1\nname: random groups\ncluster:\n";
    text += fmt::format("  hosts: [{{name: h, count: {}, type: hgx-h100}}]\n", hosts);
    text += fmt::format("  fabric: {{kind: {}, link: 400 Gbit/s, latency: 0.6 us}}\n",
                        pick<const char*>({"one-switch", "leaf-spine, hosts_per_group: 2",
                                           "rail-optimized, hosts_per_group: 4"}));
    text += has_experts ? moe : dense;
    text += fmt::format(
        "stack: {{base: megatron-core, overlaps_shared_experts: {}, "
        "splits_tensor_products: {}}}\n",
        below(2) == 0, below(2) == 0);
    const char* schedule = pick<const char*>({"1f1b", "1f1b", "zb-h1", "dual-pipe"});
    if (stages == 1) schedule = "1f1b";
    text += fmt::format("training: {{sequence: 256, global_batch: {}, micro_batch: 1}}\n",
                        data * 2 * stages);
    const bool is_dual = std::string(schedule) == "dual-pipe";
    text += fmt::format(
        "plan: {{tensor: {}, context: {}, context_kind: {}, pipeline: {{stages: {}, schedule: "
        "{}}}, data: {{{}}}, recompute: {}",
        tensor, context, kind(tensor, context), stages, schedule,
        sharding(is_dual, has_experts ? 1 : context * data),
        pick<const char*>({"none", "selective", "full"}));
    if (has_experts) {
      text += fmt::format(", expert: {{degree: {}, tensor: {}}}", degree, expert_tensor);
      text += pick<const char*>({"", "", ", routing: {distribution: zipf, s: 0.8}",
                                 ", routing: {distribution: zipf, draw: per-layer}",
                                 ", routing: {distribution: zipf, draw: per-micro-batch}",
                                 ", routing: {distribution: zipf, groups: independent}",
                                 ", routing: {distribution: zipf, s: 0.5, draw: per-micro-batch, "
                                 "groups: independent}"});
    }
    text += "}\n";
    text += fmt::format(
        "placement: {{order: [{}]}}\n",
        pick<const char*>({"tensor, context, data, pipeline", "tensor, data, context, pipeline",
                           "pipeline, tensor, context, data"}));
    if (below(3) == 0) {
      text += fmt::format("stragglers:\n  - {{part: h0.gpu{}, compute: 80 %}}\n", below(8));
    }
    return text;
  }

 private:
  std::string sharding(bool is_dual, int sharers) {
    const char* kind = pick<const char*>({"none", "zero-1", is_dual ? "zero-1" : "zero-3"});
    std::string text = fmt::format("sharding: {}", kind);
    if (std::string(kind) == "zero-3") {
      text += fmt::format(", reshard_after_forward: {}", below(2) == 0);
    }
    const bool has_copies = !is_dual && std::string(kind) != "none" && sharers % 2 == 0;
    if (has_copies && below(2) == 0) text += fmt::format(", shard_degree: {}", sharers / 2);
    return text;
  }
  // Ulysses needs heads to exchange.
  const char* kind(int tensor, int context) {
    if (4 / tensor % context == 0 && below(3) == 0) return "ulysses";
    return pick<const char*>({"ring", "all-gather"});
  }
};

template <class Visit>
void each_of_groups(unsigned count, Visit visit) {
  each_scenario(
      count, [](unsigned seed) { return RandomGroups(seed).text(); }, visit);
}

std::int64_t iteration(const std::filesystem::path& file,
                       const std::vector<scenario::Override>& overrides) {
  return run_scenario(file, overrides).result.iteration_ps();
}

}  // namespace

TEST_CASE("groups: 60 random jobs -> all of the result as with every rank run") {
  int folded = 0;
  each_of_groups(60, [&](const std::filesystem::path& file) {
    const Both both = run_both(file);
    check_equal(both.folded, both.whole);
    folded += both.folded.fold.rank_classes < both.folded.fold.ranks;
  });
  CHECK(folded > 40);
}

// Pieces merge tensor collectives with what is around them; nothing else.
TEST_CASE("groups: 40 random jobs -> pieces agree with operators within 0.5 %") {
  each_of_groups(40, [&](const std::filesystem::path& file) {
    const auto pieces = iteration(file, {});
    const auto operators = iteration(file, {{"run.fidelity", "operators"}});
    CHECK(static_cast<double>(pieces) ==
          doctest::Approx(static_cast<double>(operators)).scale(0).epsilon(0.005));
  });
}

TEST_CASE("groups: a histogram of equal shares is an even routing") {
  const auto file = repository() / "scenarios/worked/expert-hot.yaml";
  const std::string equal = "{distribution: histogram, shares: [5, 5, 5, 5, 5, 5, 5, 5]}";
  CHECK(iteration(file, {{"plan.routing", equal}}) ==
        iteration(file, {{"plan.routing", "{distribution: balanced}"}}));
}

namespace {

std::string routed(const char* routing, int degree, int micro_batches) {
  return std::string(
             "maquette: 1\nname: routed\ncluster:\n"
             "  hosts: [{name: h, count: 2, type: hgx-h100}]\n"
             "  fabric: {kind: one-switch, link: 400 Gbit/s, latency: 0.6 us}\n") +
         moe +
         fmt::format(
             "stack: ideal\ntraining: {{sequence: 256, global_batch: {}}}\n"
             "plan: {{expert: {{degree: {}}}, routing: {{distribution: zipf, {}}}}}\n",
             16 * micro_batches, degree, routing);
}

Picoseconds time_of(const std::string& text) {
  Picoseconds time = 0;
  each_scenario(
      1, [&](unsigned) { return text; },
      [&](const std::filesystem::path& file) { time = run_scenario(file).result.iteration_ps(); });
  return time;
}

}  // namespace

// The first micro-batch is drawn as each layer is, and the first group as all of them.
TEST_CASE("groups: experts shuffled for each micro-batch, and for each group") {
  CHECK(time_of(routed("draw: per-micro-batch", 4, 1)) == time_of(routed("draw: per-layer", 4, 1)));
  CHECK(time_of(routed("draw: per-micro-batch", 4, 3)) != time_of(routed("draw: per-layer", 4, 3)));
  // Two experts a rank: which are together, and how hot the hottest rank is, differs.
  CHECK(time_of(routed("draw: per-layer, groups: independent", 4, 2)) >
        time_of(routed("draw: per-layer, groups: same", 4, 2)));
  // Of 16 ranks whose experts are in groups of 8 each second one; all devices of a host are one.
  const std::string text = routed("draw: per-layer", 8, 1);
  CHECK(time_of(text + "placement: {expert_order: [tensor, expert, data]}\n") == time_of(text));
  CHECK(time_of(text + "placement: {expert_order: [data, tensor, expert]}\n") > time_of(text));
}
