// Replicas that are not cut alike: as the plan that says the same where they are, against pipelines
// run by hand, folded as with every rank run, and what their gradients send.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tests/scenarios/folded_jobs.h"

using namespace sim;

namespace {

constexpr const char* small_dnn =
    "dnn: {layers: 8, hidden: 512, heads: 8, head_size: 64, kv_heads: 8, ffn: 1024, vocabulary: "
    "1024}\n";

std::string cluster(int hosts) {
  return fmt::format(
      "maquette: 1\nname: replicas\ncluster:\n  hosts: [{{name: h, count: {}, type: hgx-h100}}]\n"
      "  fabric: {{kind: leaf-spine, hosts_per_group: 2, link: 400 Gbit/s, latency: 0.6 us}}\n",
      hosts);
}

std::string settings(Choices& choices) {
  std::string text =
      fmt::format("stack: {{base: {}, bucket: {}}}\n",
                  choices.pick<const char*>({"megatron-core", "megatron-deepspeed", "ideal"}),
                  choices.pick<const char*>({"1 MB", "20 MB"}));
  text += fmt::format("run: {{fidelity: {}}}\n",
                      choices.pick<const char*>({"segments", "segments", "operators"}));
  return text;
}

std::string plan_of(Choices& choices) {
  return fmt::format(
      "plan:\n  sequence_parallel: {}\n  recompute: {}\n  data: {{sharding: {}}}\n"
      "  pipeline: {{schedule: {}}}\n",
      choices.below(2) == 0, choices.pick<const char*>({"none", "selective", "full"}),
      choices.pick<const char*>({"none", "zero-1"}),
      choices.pick<const char*>(
          {"1f1b", "1f1b", "gpipe", "zb-h1", "pipedream-2bw", "wave-synchronous"}));
}

// `parts` numbers of at least one that sum to `total`.
std::vector<int> random_cut(Choices& choices, int total, int parts) {
  std::vector<int> result(static_cast<std::size_t>(parts), 1);
  for (int left = total - parts; left > 0; --left) {
    ++result[static_cast<std::size_t>(choices.below(parts))];
  }
  return result;
}

std::string unlike_replicas(unsigned seed) {
  Choices choices(seed);
  std::string replicas;
  int ranks = 0, micro_batches = 0;
  const int kinds = 1 + choices.below(3);
  for (int k = 0; k < kinds; ++k) {
    const int stages = choices.pick<int>({1, 2, 3, 4}), count = 1 + choices.below(2);
    std::vector<int> tensor;
    for (int s = 0; s < stages; ++s) tensor.push_back(choices.pick<int>({1, 2, 4}));
    const int each = stages + choices.below(4);
    replicas +=
        fmt::format("    - {{count: {}, tensor: [{}], layers: [{}], micro_batches: {}}}\n", count,
                    fmt::join(tensor, ", "), fmt::join(random_cut(choices, 8, stages), ", "), each);
    ranks += count * std::accumulate(tensor.begin(), tensor.end(), 0);
    micro_batches += count * each;
  }
  const int idle = (8 - ranks % 8) % 8;  // a replica that fills the last host
  if (idle > 0) {
    replicas += fmt::format("    - {{tensor: 1, layers: [{}], micro_batches: {}}}\n",
                            fmt::join(random_cut(choices, 8, idle), ", "), idle);
    ranks += idle;
    micro_batches += idle;
  }
  std::string text = cluster(ranks / 8) + small_dnn + settings(choices);
  text += fmt::format("training: {{sequence: 256, global_batch: {}}}\n", micro_batches);
  text += plan_of(choices) + "  replicas:\n" + replicas;
  if (choices.below(3) == 0) {
    text += fmt::format("stragglers: [{{rank: {}, compute: 60 %}}]\n", choices.below(ranks));
  }
  return text;
}

// When a 1F1B pipeline without transfers ends: its passes one by one, as soon as a stage and what
// the pass needs are free.
double ends_after(const std::vector<int>& layers, int micro_batches, double forward,
                  double backward) {
  const std::size_t stages = layers.size();
  const auto m = static_cast<std::size_t>(micro_batches);
  std::vector<std::vector<double>> f(stages, std::vector<double>(m, -1)), b = f;
  std::vector<double> free(stages, 0);
  std::vector<std::size_t> next(stages, 0);
  const auto passes = [&](std::size_t stage) {
    std::vector<std::pair<bool, std::size_t>> order;
    const std::size_t warm_up = std::min(m, stages - 1 - stage);
    for (std::size_t i = 0; i < warm_up; ++i) order.emplace_back(true, i);
    for (std::size_t i = warm_up; i < m; ++i) {
      order.emplace_back(true, i);
      order.emplace_back(false, i - warm_up);
    }
    for (std::size_t i = m - warm_up; i < m; ++i) order.emplace_back(false, i);
    return order;
  };
  for (bool is_moving = true; is_moving;) {
    is_moving = false;
    for (std::size_t s = 0; s < stages; ++s) {
      const auto order = passes(s);
      while (next[s] < order.size()) {
        const auto [is_forward, i] = order[next[s]];
        const double needed = is_forward        ? (s == 0 ? 0 : f[s - 1][i])
                              : s + 1 == stages ? f[s][i]
                                                : b[s + 1][i];
        if (needed < 0) break;
        const double takes = layers[s] * (is_forward ? forward : backward);
        free[s] = (is_forward ? f : b)[s][i] = std::max(free[s], needed) + takes;
        ++next[s];
        is_moving = true;
      }
    }
  }
  return *std::max_element(free.begin(), free.end());
}

}  // namespace

TEST_CASE("replicas: pipelines of unlike stages and micro-batches, as passed through by hand") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Choices choices(seed);
    const int layers = 6 + choices.below(6), count = 1 + choices.below(4);
    std::string replicas;
    int ranks = 0, micro_batches = 0;
    double expected = 0;
    for (int r = 0; r < count; ++r) {
      const int stages = 1 + choices.below(4), each = 1 + choices.below(9);
      const auto cut = random_cut(choices, layers, stages);
      replicas +=
          fmt::format("    - {{layers: [{}], micro_batches: {}}}\n", fmt::join(cut, ", "), each);
      ranks += stages;
      micro_batches += each;
      expected = std::max(expected, ends_after(cut, each, 1, 2));
    }
    std::string devices, links;
    for (int d = 0; d < ranks; ++d) {
      devices += fmt::format("{}{{name: d{}, type: ideal}}", d > 0 ? ", " : "", d);
      links += fmt::format("    - {{from: d{}, to: s, capacity: 50 GB/s, latency: 0 s}}\n", d);
    }
    const std::string text = fmt::format(
        "maquette: 1\nname: pipelines\ncluster:\n  devices: [{}]\n  switches: [s]\n  links:\n{}"
        "dnn: {{timed: {{layers: {}, forward: 1 ms, backward: 2 ms}}}}\nstack: ideal\n"
        "training: {{global_batch: {}}}\nplan:\n  replicas:\n{}",
        devices, links, layers, micro_batches, replicas);
    each_scenario(
        1, [&](unsigned) { return text; },
        [&](const std::filesystem::path& file) {
          const auto result = run_scenario(file).result;
          CHECK(result.iteration_ps() == static_cast<Picoseconds>(expected * 1e9));
        });
  }
}

TEST_CASE("replicas: all alike, as the plan that cuts them so") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Choices choices(seed);
    const int tensor = choices.pick<int>({1, 2, 4}), stages = choices.pick<int>({1, 2, 4});
    const int data = 16 / (tensor * stages) == 0 ? 1 : 16 / (tensor * stages);
    const auto cut = random_cut(choices, 8, stages);
    const int each = stages + choices.below(3);
    std::string text = cluster(2) + small_dnn + settings(choices);
    text += fmt::format("training: {{sequence: 256, global_batch: {}}}\n", data * each);
    const std::string shared = plan_of(choices);
    const std::string alike = text + "placement: {order: [tensor, context, pipeline, data]}\n" +
                              fmt::format("{}  tensor: {}\n", shared, tensor);
    std::string regular = alike;
    const std::string schedule = "pipeline: {";
    regular.replace(
        regular.find(schedule), schedule.size(),
        fmt::format("pipeline: {{stages: {}, layers: [{}], ", stages, fmt::join(cut, ", ")));
    const std::string listed =
        text + shared +
        fmt::format(
            "  replicas:\n    - {{count: {}, tensor: {}, layers: [{}], micro_batches: {}}}\n", data,
            tensor, fmt::join(cut, ", "), each);
    std::vector<training::Result> results;
    for (const std::string& one : {regular, listed}) {
      each_scenario(
          1, [&](unsigned) { return one; },
          [&](const std::filesystem::path& file) { results.push_back(run_scenario(file).result); });
    }
    CAPTURE(listed);
    REQUIRE(results.size() == 2);
    // Without a flush gathers and reductions are in an order that suits every stage, not each its
    // own.
    const bool is_other_order =
        !results[0].pipelining.flushes && shared.find("zero-1") != std::string::npos;
    if (is_other_order) {
      CHECK(static_cast<double>(results[0].iteration_ps()) ==
            doctest::Approx(static_cast<double>(results[1].iteration_ps())).epsilon(0.1));
    } else {
      CHECK(results[0].iterations_ps == results[1].iterations_ps);
      CHECK(results[0].time == results[1].time);
    }
    CHECK(results[0].hardware_flops_per_iteration == results[1].hardware_flops_per_iteration);
    CHECK(results[0].fold.tasks == results[1].fold.tasks);
    for (std::size_t i = 0; i < results[0].memory.size(); ++i) {
      CHECK(results[0].memory[i].memory.peak() == results[1].memory[i].memory.peak());
      CHECK(results[0].memory[i].ranks == results[1].memory[i].ranks);
    }
  }
}

TEST_CASE("replicas: folded as with every rank run") {
  each_scenario(60, unlike_replicas, [](const std::filesystem::path& file) {
    const Both both = run_both(file);
    check_equal(both.folded, both.whole);
  });
}

// Two replicas send each other, once, the gradients of every parameter of a replica: an all-reduce
// of two ranks moves its bytes through each. One replica is on a host of its own, so all of it goes
// through that host's NICs.
TEST_CASE("replicas: gradients of unlike shards pass between hosts once") {
  const std::string text = cluster(2) + small_dnn +
                           "stack: {base: ideal, gradient_fp32: true}\n"
                           "training: {sequence: 256, global_batch: 9}\n"
                           "plan:\n  replicas:\n"
                           "    - {tensor: [2, 4, 1, 1], layers: [1, 4, 2, 1], micro_batches: 4}\n"
                           "    - {tensor: [4, 4], layers: [3, 5], micro_batches: 5}\n";
  each_scenario(
      1, [&](unsigned) { return text; },
      [&](const std::filesystem::path& file) {
        const auto run = run_scenario(file);
        // 8 layers of 4 x 512^2 + 3 x 512 x 1024, which are cut; norms (17 of 512) are whole in
        // every shard of the widest stage that holds them: 4 shares each. Embedding and head 1024 x
        // 512.
        const double cut = 8 * (4 * 512.0 * 512 + 3 * 512.0 * 1024) + 2 * 1024 * 512.0;
        const double norms = 17 * 512.0 * 4;
        double bytes = 0;
        for (const auto& link : run.result.links) {
          if (link.example.find("nic") == std::string::npos) continue;
          bytes += link.bytes * static_cast<double>(link.count);
        }
        INFO(bytes);
        // Both directions of both hosts.
        CHECK(bytes == doctest::Approx(4 * 4 * (cut + norms)).epsilon(1e-3));
      });
}

TEST_CASE("replicas: virtual workers of mixed devices, without a flush") {
  const auto text = [](const char* layers) {
    return fmt::format(
        "maquette: 1\nname: virtual workers\ncluster:\n"
        "  hosts: [{{name: h, count: 1, type: hgx-h100}}, {{name: a, count: 1, type: dgx-a100}}]\n"
        "  fabric: {{kind: one-switch, link: 400 Gbit/s, latency: 0.6 us}}\n"
        "dnn: llama-3.1-8b\nstack: megatron-core\ntraining: {{sequence: 2048, global_batch: 32}}\n"
        "plan:\n  recompute: full\n  pipeline: {{schedule: wave-synchronous, staleness: 1}}\n"
        "  replicas:\n"
        "    - {{tensor: 4, layers: {0}, micro_batches: 16, devices: ['h0.gpu[0..3]', "
        "'a0.gpu[0..3]']}}\n"
        "    - {{tensor: 4, layers: {0}, micro_batches: 16, devices: ['h0.gpu[4..7]', "
        "'a0.gpu[4..7]']}}\n",
        layers);
  };
  std::vector<Picoseconds> times;
  for (const char* layers : {"[16, 16]", "[22, 10]"}) {
    each_scenario(
        1, [&](unsigned) { return text(layers); },
        [&](const std::filesystem::path& file) {
          const Both both = run_both(file);
          check_equal(both.folded, both.whole);
          CHECK(both.folded.pipelining.staleness == 2);
          times.push_back(both.folded.iteration_ps());
        });
  }
  // The A100 takes about 2.3 times as long for a layer: 16 of them hold the H100 up.
  CHECK(times[1] < times[0]);
}
