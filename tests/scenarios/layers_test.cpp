// Layers that are cut otherwise than the rest of the plan says: as a plan that says it for all,
// what passes between degrees, what is held, and folded as with every rank run.
#include <fmt/format.h>

#include <set>

#include "sim/plan/memory.h"
#include "sim/training/costs.h"
#include "tests/scenarios/folded_jobs.h"

using namespace sim;

namespace {

constexpr const char* head =
    "maquette: 1\nname: layers\ncluster:\n"
    "  hosts: [{name: h, count: 2, type: hgx-h100}]\n"
    "  fabric: {kind: one-switch, link: 400 Gbit/s, latency: 0.6 us}\n";
constexpr const char* small_dnn =
    "dnn: {layers: 8, hidden: 512, heads: 8, head_size: 64, kv_heads: 8, ffn: 1024, vocabulary: "
    "1024}\n";

struct Loaded {
  scenario::Scenario scenario;
  command::LoadedJob job;
};
Loaded loaded(const std::string& text) {
  std::optional<Loaded> result;
  each_scenario(
      1, [&](unsigned) { return text; },
      [&](const std::filesystem::path& file) {
        Diagnostics diagnostics;
        auto read = scenario::read_scenario(file, {}, command::catalog(), diagnostics);
        INFO(diagnostics.text());
        REQUIRE(read);
        auto job = command::load(*read, diagnostics);
        REQUIRE(job);
        result = Loaded{std::move(*read), std::move(*job)};
      });
  return std::move(*result);
}

training::JobCosts costs_of(const Loaded& l) {
  return training::job_costs(l.job.job, training::profile_of(l.job.job, 0), 0);
}

training::Result result_of(const std::string& text) {
  std::optional<training::Result> result;
  each_scenario(
      1, [&](unsigned) { return text; },
      [&](const std::filesystem::path& file) { result = run_scenario(file).result; });
  return std::move(*result);
}

std::string random_layers(unsigned seed) {
  Choices choices(seed);
  const int tensor = choices.pick<int>({2, 4, 8}), stages = choices.pick<int>({1, 2});
  const bool is_sequence_parallel = stages > 1 || choices.below(2) == 0;
  std::string cuts;
  const int count = 1 + choices.below(3);
  for (int c = 0; c < count; ++c) {
    const int from = choices.below(8), to = from + choices.below(8 - from);
    cuts += fmt::format("{}{{from: {}, to: {}", c > 0 ? ", " : "", from, to);
    if (choices.below(3) > 0) {
      cuts += fmt::format(", tensor: {}", tensor / choices.pick<int>({1, 2, tensor}));
    }
    if (choices.below(2) > 0) {
      cuts += fmt::format(", sharding: {}",
                          choices.pick<const char*>({"none", "zero-1", "zero-2", "fsdp"}));
    }
    if (choices.below(2) > 0) {
      cuts +=
          fmt::format(", recompute: {}", choices.pick<const char*>({"none", "selective", "full"}));
    }
    cuts += "}";
  }
  std::string text = std::string(head) + small_dnn;
  text += fmt::format("stack: {{base: {}, bucket: 1 MB}}\n",
                      choices.pick<const char*>({"megatron-core", "megatron-deepspeed", "fsdp"}));
  text += "training: {sequence: 256, global_batch: 256, micro_batch: 8}\n";
  text += fmt::format(
      "plan: {{tensor: {}, sequence_parallel: {}, pipeline: {{stages: {}, "
      "schedule: {}}}, data: {{sharding: {}}}, layers: [{}]}}\n",
      tensor, is_sequence_parallel, stages,
      stages > 1 ? choices.pick<const char*>({"1f1b", "zb-h1"}) : "1f1b",
      choices.pick<const char*>({"none", "zero-1", "fsdp"}), cuts);
  if (choices.below(3) == 0) {
    text += fmt::format("stragglers: [{{rank: {}, compute: 60 %}}]\n", choices.below(16));
  }
  return text;
}

}  // namespace

TEST_CASE("layers: recomputed one by one as all together") {
  const std::string rest =
      std::string(head) + small_dnn +
      "stack: megatron-core\ntraining: {sequence: 256, global_batch: 32, micro_batch: 2}\n";
  const char* const plan = "plan: {{tensor: 2, pipeline: {{stages: 2}}, {}}}\n";
  const auto all = result_of(rest + fmt::format(fmt::runtime(plan), "recompute: full"));
  const auto each = result_of(
      rest + fmt::format(fmt::runtime(plan), "layers: [{from: 0, to: 7, recompute: full}]"));
  CHECK(all.iterations_ps == each.iterations_ps);
  CHECK(all.fingerprint == each.fingerprint);
  CHECK(all.memory.front().memory.peak() == each.memory.front().memory.peak());
  // Half of them take about half of what all of them add.
  const auto none = result_of(rest + fmt::format(fmt::runtime(plan), "recompute: none"));
  const auto half =
      result_of(rest + fmt::format(fmt::runtime(plan),
                                   "layers: [{from: 0, to: 1, recompute: full}, {from: "
                                   "4, to: 5, recompute: full}]"));
  const auto added = [&](const training::Result& r) {
    return static_cast<double>(r.iteration_ps() - none.iteration_ps());
  };
  CHECK(added(half) == doctest::Approx(added(all) / 2).epsilon(0.02));
}

// Timed layers hold all parameters there are.
TEST_CASE("layers: sharded one by one as all together") {
  const auto text = [](const char* plan) {
    return fmt::format(
        "maquette: 1\nname: sharded\ncluster:\n"
        "  devices: [{{name: d0, type: ideal}}, {{name: d1, type: ideal}}]\n  switches: [s]\n"
        "  links:\n    - {{from: d0, to: s, capacity: 50 GB/s, latency: 0 s}}\n"
        "    - {{from: d1, to: s, capacity: 50 GB/s, latency: 0 s}}\n"
        "dnn: {{timed: {{layers: 4, forward: 1 ms, backward: 2 ms, parameters: 100 MB}}}}\n"
        "stack: {{base: ideal, overlaps_gradient_reduction: true, overlaps_parameter_gather: "
        "true, bucket: 1 MB, prefetch_layers: 1}}\n"
        "training: {{global_batch: 4}}\nplan: {}\n",
        plan);
  };
  std::set<Picoseconds> seen;
  for (const char* sharding : {"none", "zero-1", "zero-2", "fsdp"}) {
    CAPTURE(sharding);
    const auto all = result_of(text(fmt::format("{{data: {{sharding: {}}}}}", sharding).c_str()));
    const auto each = result_of(
        text(fmt::format("{{layers: [{{from: 0, to: 3, sharding: {}}}]}}", sharding).c_str()));
    CHECK(all.iterations_ps == each.iterations_ps);
    CHECK(all.time == each.time);
    seen.insert(all.iteration_ps());
  }
  CHECK(seen.size() >= 2);  // it makes a difference
}

TEST_CASE("layers: of a smaller tensor degree, with as much of the micro-batch less") {
  const std::string rest = std::string(head) + small_dnn + "stack: megatron-core\n";
  const auto cut =
      costs_of(loaded(rest + "training: {sequence: 256, global_batch: 64, micro_batch: 4}\n"
                             "plan: {tensor: 8, layers: [{from: 0, to: 7, tensor: 2}]}\n"));
  const auto narrow = costs_of(loaded(
      rest + "training: {sequence: 256, global_batch: 64, micro_batch: 1}\nplan: {tensor: 2}\n"));
  // Behind another of its kind it is that layer; only the first is resharded for.
  const auto& inner = cut.layer_kinds[cut.kind_of_layer[3]];
  const auto& same = narrow.layer_kinds[narrow.kind_of_layer[3]];
  for (auto pass : {&training::UnitCosts::forward, &training::UnitCosts::backward}) {
    REQUIRE((inner.*pass).size() == (same.*pass).size());
    for (std::size_t i = 0; i < (inner.*pass).size(); ++i) {
      const auto &a = (inner.*pass)[i], &b = (same.*pass)[i];
      CHECK(a.name == b.name);
      CHECK(a.work == b.work);
      CHECK(a.size == b.size);
      CHECK(a.part == (a.collective ? training::TensorPart{2, 1} : training::TensorPart{}));
    }
  }
  CHECK(inner.held.front().gradients == same.held.front().gradients);
}

// 4 sequences of 256 tokens of 512 numbers of 2 bytes: 1 MiB; a rank of 8 has 128 KiB of it.
TEST_CASE("layers: what passes between tensor degrees") {
  const auto costs = [](const char* is_sequence_parallel) {
    return costs_of(loaded(std::string(head) + small_dnn +
                           "stack: megatron-core\n"
                           "training: {sequence: 256, global_batch: 64, micro_batch: 4}\n" +
                           fmt::format("plan: {{tensor: 8, sequence_parallel: {}, layers: [{{from: "
                                       "2, to: 3, tensor: 2}}]}}\n",
                                       is_sequence_parallel)));
  };
  const auto unit = [](const training::JobCosts& c, std::size_t layer) -> const auto& {
    return c.layer_kinds[c.kind_of_layer[layer]];
  };
  constexpr double mebi = 1048576;
  const auto exchanged = costs("true");
  for (const std::size_t layer : {2, 4}) {  // 8 to 2, and back: 4 ranks, 2 apart
    for (const auto* o :
         {&unit(exchanged, layer).forward.front(), &unit(exchanged, layer).backward.back()}) {
      CHECK(o->name == "reshard");
      CHECK(o->collective == collective::Operation::all_to_all);
      CHECK(o->size.value() == mebi / 8);
      CHECK(o->part == training::TensorPart{4, 2});
    }
  }
  CHECK(unit(exchanged, 3).forward.front().name != "reshard");
  // Without sequence parallelism all ranks have the whole; a quarter of it is one of 2 ranks'.
  const auto gathered = costs("false");
  CHECK(unit(gathered, 2).forward.front().name != "reshard");
  CHECK(unit(gathered, 2).backward.back().collective == collective::Operation::all_gather);
  CHECK(unit(gathered, 2).backward.back().size.value() == mebi);
  CHECK(unit(gathered, 4).forward.front().collective == collective::Operation::all_gather);
  CHECK(unit(gathered, 4).forward.front().size.value() == mebi);
  CHECK(unit(gathered, 4).backward.back().name != "reshard");
}

// A layer has 4 x 512^2 + 3 x 512 x 1024 = 2,621,440 parameters that are cut and two norms of 512.
TEST_CASE("layers: what ranks hold of layers that are cut otherwise") {
  const auto memory = [](const char* layers) {
    const Loaded l = loaded(std::string(head) + small_dnn +
                            "stack: megatron-core\n"
                            "training: {sequence: 256, global_batch: 64, micro_batch: 4}\n" +
                            fmt::format("plan: {{tensor: 4, layers: {}}}\n", layers));
    return plan::memory(l.scenario.plan, std::get<dnn::Transformer>(l.scenario.dnn),
                        l.scenario.stack, 0);
  };
  const auto whole = memory("[]");
  // Two of them on one rank each instead of four: three quarters of the cut ones more.
  const auto narrow = memory("[{from: 2, to: 3, tensor: 1}]");
  const double more = 2 * 2621440 * 0.75;
  CHECK(narrow.weights.value() - whole.weights.value() == 2 * more);
  CHECK(narrow.optimizer.value() - whole.optimizer.value() == 12 * more);
  // Sharded over 4 replicas x 4 groups of a tensor group, of the whole layer; before over none.
  const auto sharded = memory("[{from: 2, to: 3, tensor: 1, sharding: zero-1}]");
  const double own = 2 * (2621440.0 / 4 + 1024), shared = 2 * (2621440.0 + 1024) / 16;
  CHECK(whole.optimizer.value() - sharded.optimizer.value() == 12 * (own - shared));
  const auto fully = memory("[{from: 2, to: 3, sharding: fsdp}]");
  CHECK(whole.weights.value() - fully.weights.value() == 2 * own * 0.75);
}

TEST_CASE("layers: folded as with every rank run") {
  each_scenario(60, random_layers, [](const std::filesystem::path& file) {
    const Both both = run_both(file);
    check_equal(both.folded, both.whole);
  });
}

// Kernels side by side on a device are what pieces take together and operators share: a little
// apart where collectives overlap, not otherwise.
TEST_CASE("layers: by segments as by operators") {
  each_scenario(
      20, [](unsigned seed) { return random_layers(100 + seed); },
      [](const std::filesystem::path& file) {
        const auto pieces = run_scenario(file).result;
        const auto each = run_scenario(file, {{"run.fidelity", "operators"}}).result;
        CHECK(static_cast<double>(pieces.iteration_ps()) ==
              doctest::Approx(static_cast<double>(each.iteration_ps())).epsilon(0.02));
      });
}
