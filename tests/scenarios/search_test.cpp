// Bounds hold, so a search finds what simulating every plan would.
#include "sim/training/search.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "sim/scenario/document.h"
#include "sim/scenario/study.h"
#include "sim/training/lower_bound.h"
#include "tests/scenarios/run_scenario.h"

using namespace sim;

namespace {

struct Loaded {
  scenario::Scenario scenario;
  command::LoadedJob loaded;
};

Loaded load(const std::string& file, const std::vector<scenario::Override>& overrides = {}) {
  Diagnostics diagnostics;
  const auto read =
      scenario::read_scenario(repository() / file, overrides, command::catalog(), diagnostics);
  INFO(diagnostics.text());
  REQUIRE(read);
  auto loaded = command::load(*read, diagnostics);
  REQUIRE(loaded);
  loaded->job.disturbances.clear();
  return {*read, std::move(*loaded)};
}

}  // namespace

TEST_CASE("lower bound: 1F1B, 4 stages, 8 micro-batches of 1 ms + 2 ms -> 33 ms") {
  // The last stage waits 3 x 1 ms, computes 8 x 3 ms, and 3 x 2 ms remain after it.
  const Loaded one = load("scenarios/worked/pipeline-1f1b.yaml");
  training::LowerBound bound(one.loaded.job);
  CHECK(bound.of(one.loaded.job.plan) == 33'000'000'000);
}

TEST_CASE("lower bound: no scenario of the repository takes less") {
  int bounded = 0;
  for (const char* folder : {"scenarios", "scenarios/worked"}) {
    for (const auto& file : scenario_files(folder)) {
      CAPTURE(file);
      const Loaded one = load(std::filesystem::relative(file, repository()).string());
      const training::Job& job = one.loaded.job;
      if (std::holds_alternative<std::monostate>(job.dnn) || job.plan.ranks() > 4096) continue;
      const auto outcome = training::simulate(job);
      const auto* result = std::get_if<training::Result>(&outcome);
      REQUIRE(result);
      training::LowerBound bound(job);
      CHECK(bound.of(job.plan) <= result->iteration_ps());
      bounded += bound.of(job.plan) > 0 ? 1 : 0;
    }
  }
  CHECK(bounded >= 25);
}

TEST_CASE("lower bound: of all degrees, kinds of groups, and unlike devices") {
  // Two hosts of one type, two of another: replicas, stages or the ranks of a group are unlike.
  const auto path = std::filesystem::temp_directory_path() / "maquette-lower-bound.yaml";
  std::ofstream(path) << R"(maquette: 1
name: unlike devices
cluster:
  hosts: [{name: a, count: 2, type: hgx-h100}, {name: b, count: 2, type: dgx-a100}]
  fabric: {kind: rail-optimized, hosts_per_group: 2, link: 200 Gbit/s, latency: 0.6 us}
dnn: mixtral-8x7b
stack: megatron-core
training: {sequence: 4096, global_batch: 32, micro_batch: 1, precision: bf16}
plan: {tensor: 8, pipeline: {stages: 2}}
)";
  const std::vector<std::vector<scenario::Override>> variants = {
      {},
      {{"plan.tensor", "16"}},
      {{"plan.tensor", "2"}, {"plan.expert", "{degree: 8}"}},
      {{"plan.tensor", "4"}, {"plan.expert", "{degree: 4, tensor: 2}"}},
      {{"plan.tensor", "2"}, {"plan.context", "4"}},
      {{"plan.tensor", "2"}, {"plan.context", "2"}, {"plan.pipeline.schedule", "zb-h1"}},
      {{"plan.tensor", "4"}, {"plan.pipeline.schedule", "dual-pipe-v"}},
      {{"plan.tensor", "4"}, {"plan.recompute", "full"}, {"plan.data.sharding", "zero-3"}},
      {{"placement.order", "[data, tensor, context, pipeline]"}},
      {{"run.fidelity", "operators"}},
      {{"dnn", "llama-3.1-8b"}, {"plan.context", "2"}, {"run.fidelity", "operators"}},
  };
  for (const auto& overrides : variants) {
    for (const auto& [override_path, value] : overrides) CAPTURE(override_path + "=" + value);
    const Loaded one = load(path, overrides);
    const training::Job& job = one.loaded.job;
    const auto outcome = training::simulate(job);
    const auto* result = std::get_if<training::Result>(&outcome);
    REQUIRE(result);
    const auto least = training::LowerBound(job).of(job.plan);
    CAPTURE(overrides.empty() ? "as it is" : overrides.back().value);
    CHECK(least <= result->iteration_ps());
    CHECK(least > result->iteration_ps() / 4);
  }
  std::filesystem::remove(path);
}

TEST_CASE("lower bound: with the collectives of a tensor group inside a host, close") {
  const Loaded one = load("scenarios/studies/gpt3-512.yaml", {{"training.global_batch", "512"}});
  const training::Job& job = one.loaded.job;
  const auto outcome = training::simulate(job);
  const auto* result = std::get_if<training::Result>(&outcome);
  REQUIRE(result);
  const auto least = static_cast<double>(training::LowerBound(job).of(job.plan));
  CHECK(least / static_cast<double>(result->iteration_ps()) > 0.9);
}

TEST_CASE("search: exactly the plans that simulating all of them finds best") {
  // Tight enough on memory that some plans do not fit.
  const Loaded one = load("scenarios/quickstart.yaml",
                          {{"cluster.hosts.0.count", "2"}, {"training.global_batch", "32"}});
  const training::Job& job = one.loaded.job;
  training::PlanSpace space;
  space.micro_batch = {1, 2};
  space.virtual_stages = {2, 4};
  space.top = 10;
  const auto plans = training::plans_of(job, space);
  training::LowerBound bound(job);
  std::vector<std::pair<std::int64_t, std::size_t>> all;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    training::Job other = job;
    other.plan = plans[i];
    const auto outcome = training::simulate(other);
    const auto* result = std::get_if<training::Result>(&outcome);
    REQUIRE(result);
    CAPTURE(training::overrides_text(plans[i]));
    CHECK(bound.of(plans[i]) <= result->iteration_ps());
    CHECK(bound.of(plans[i]) > 0);
    // What is remembered of other plans changes nothing.
    CHECK(training::LowerBound(job).of(plans[i]) == bound.of(plans[i]));
    if (result->fits) all.emplace_back(result->iteration_ps(), i);
  }
  std::sort(all.begin(), all.end());
  for (const int threads : {1, 3}) {
    const auto found = training::search(job, space, threads);
    REQUIRE(found.best.size() == 10);
    CHECK(found.plans == static_cast<std::int64_t>(plans.size()));
    CHECK(found.fitting >= static_cast<std::int64_t>(all.size()));
    CHECK(found.simulated < found.fitting);
    for (std::size_t i = 0; i < found.best.size(); ++i) {
      CAPTURE(i);
      CHECK(found.best[i].iteration_ps == all[i].first);
      CHECK(training::overrides_text(found.best[i].plan) ==
            training::overrides_text(plans[all[i].second]));
    }
  }
}

TEST_CASE("search: what it prints gives the same time as a scenario") {
  const Loaded one = load("scenarios/quickstart.yaml");
  training::PlanSpace space;
  space.tensor = {2};
  space.stages = {2, 4};
  space.top = 3;
  const auto found = training::search(one.loaded.job, space, 2);
  REQUIRE(found.best.size() == 3);
  for (const auto& best : found.best) {
    std::istringstream words(training::overrides_text(best.plan));
    std::vector<scenario::Override> overrides = {{"stragglers", "[]"}, {"plan.pipeline", "{}"}};
    for (std::string word; words >> word;) {
      const auto equals = word.find('=');
      overrides.push_back({word.substr(0, equals), word.substr(equals + 1)});
    }
    CHECK(
        run_scenario(repository() / "scenarios/quickstart.yaml", overrides).result.iteration_ps() ==
        best.iteration_ps);
  }
}

TEST_CASE("README: the study that it shows can be read, and has the candidates that one counts") {
  std::ifstream file(repository() / "README.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string readme = text.str();
  const std::size_t begin = readme.find("maquette: 1\nstudy:");
  REQUIRE(begin != std::string::npos);
  std::string study = readme.substr(begin, readme.find("```", begin) - begin);
  const std::string base = "../quickstart.yaml";
  study.replace(study.find(base), base.size(),
                (repository() / "scenarios/quickstart.yaml").string());
  const auto path = std::filesystem::temp_directory_path() / "maquette-readme-study.yaml";
  std::ofstream(path) << study;
  Diagnostics diagnostics;
  const auto read = scenario::read_study(path, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(read);
  const auto root = scenario::read_document(read->base, {}, diagnostics);
  const auto grid = scenario::grid(*read, *root, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(grid);
  // 2 (recompute) x 3 (1, 2, 4) x 2 (zipped) = 12 for each of tensor 1 and 2, and of 4 and 8 with
  // micro-batches 1 to 3, of which 8 x 3 is filtered out; the base writes a micro-batch.
  CHECK(grid->candidates.size() == 12 * (1 + 1 + 3 + 2));
  CHECK(grid->filtered == 12);
  std::filesystem::remove(path);
}
