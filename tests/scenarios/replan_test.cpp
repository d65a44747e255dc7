// Jobs planned anew around slow devices: by hand, and what is written against what was simulated.
#include "sim/training/replan.h"

#include <fstream>
#include <numeric>
#include <sstream>

#include "sim/command/replan_text.h"
#include "sim/scenario/replanned.h"
#include "tests/approximately.h"
#include "tests/scenarios/run_scenario.h"

using namespace sim;

namespace {

struct Case {
  scenario::Scenario scenario;
  command::LoadedJob loaded;
  training::Replan replan;
  const training::PlannedAnew& best() const { return replan.tried.at(replan.best.value()); }
};

Case replanned(const std::filesystem::path& file,
               const std::vector<scenario::Override>& overrides = {}) {
  Diagnostics diagnostics;
  auto read = scenario::read_scenario(file, overrides, command::catalog(), diagnostics);
  INFO(diagnostics.text());
  REQUIRE(read);
  auto loaded = command::load(*read, diagnostics);
  REQUIRE(loaded);
  auto outcome = training::replan(loaded->job);
  REQUIRE(std::holds_alternative<training::Replan>(outcome));
  return {*std::move(read), *std::move(loaded), std::get<training::Replan>(std::move(outcome))};
}

std::filesystem::path temporary(const std::string& name) {
  return std::filesystem::temp_directory_path() / ("maquette-replan-" + name + ".yaml");
}

// Layers of 1 ms forward and 2 ms backward.
Case replanned_timed(int devices, const std::string& rest) {
  const auto file = temporary("timed");
  std::ofstream out(file);
  out << "maquette: 1\nname: timed\ncluster:\n  devices: [";
  for (int d = 0; d < devices; ++d)
    out << (d > 0 ? ", " : "") << "{name: d" << d << ", type: ideal}";
  out << "]\n  switches: [s]\n  links:\n";
  for (int d = 0; d < devices; ++d) {
    out << "    - {from: d" << d << ", to: s, capacity: 50 GB/s, latency: 0 s}\n";
  }
  out << "stack: ideal\n" << rest;
  out.close();
  return replanned(file);
}

// What is written is read back and run.
training::Result run_written(const Case& c, const std::filesystem::path& file,
                             const std::vector<scenario::Override>& overrides = {}) {
  const auto out = temporary("written");
  Diagnostics diagnostics;
  const auto written = scenario::replanned(file, overrides, c.best().plan.replicas,
                                           *c.loaded.cluster, out.parent_path(), diagnostics);
  REQUIRE(written);
  std::ofstream(out) << written->text;
  return run_scenario(out).result;
}

}  // namespace

// 4 layers are 12 ms a micro-batch, 30 ms on the slow device. Healthy 5 each, 60 ms; slow 150 ms.
// 2 on the slow one take 60 ms, and leave 6 to each other one: 72 ms. Speeds: 60 ms x 4 / 3.4.
TEST_CASE("replan: replicas of one device -> micro-batches 2, 6, 6, 6") {
  const Case c =
      replanned_timed(4,
                      "dnn: {timed: {layers: 4, forward: 1 ms, backward: 2 ms}}\n"
                      "training: {sequence: 1, global_batch: 20}\nplan: {data: {degree: 4}}\n"
                      "stragglers: [{part: d0, compute: 40 %}]\n");
  CHECK(c.replan.slowdowns == std::vector<double>{2.5, 1, 1, 1});
  CHECK(c.replan.healthy == 60'000'000'000);
  CHECK(to_seconds(c.replan.slow).value() == approximately(0.150, 1e-5));  // shares are rounded
  CHECK(c.best().iteration == 72'000'000'000);
  CHECK(c.best().estimate == 72'000'000'000);
  CHECK(c.best().plan.replicas[0].micro_batches == 2);
  CHECK(c.best().plan.replicas[3].micro_batches == 6);
  CHECK(to_seconds(c.replan.ideal()).value() == approximately(0.060 * 4 / 3.4, 1e-9));
  CHECK(c.replan.won_back() == approximately(78.0 / 90, 1e-5));
  CHECK(!c.replan.moving);
}

// The second of two stages at half speed. 4 + 4 layers: 12 and 24 ms a micro-batch; 6 + 2: 18 and
// 12 ms. The first stage then waits only between its second forward pass, until 12 ms, and the
// first backward one, which is there after 6 + 4 + 8 ms: 4 x 18 + 6 = 78 ms. The slow one first,
// with 2 layers: it does F0 and F1 until 8 ms, B0 is there after 4 + 18 ms, and the last one ends
// at 4 + 4 x 18 + 8 = 84 ms.
TEST_CASE("replan: a slow stage -> layers 6, 2 in place, 78 ms; first, 84 ms") {
  const Case c =
      replanned_timed(2,
                      "dnn: {timed: {layers: 8, forward: 1 ms, backward: 2 ms}}\n"
                      "training: {sequence: 1, global_batch: 4}\nplan: {pipeline: {stages: 2}}\n"
                      "stragglers: [{part: d1, compute: 50 %}]\n");
  CHECK(c.best().plan.replicas[0].layers == std::vector<int>{6, 2});
  CHECK(c.best().iteration == 78'000'000'000);
  CHECK(c.best().replanning.order == plan::StageOrder::in_place);
  bool has_first = false;
  for (const training::PlannedAnew& one : c.replan.tried) {
    if (one.replanning.order != plan::StageOrder::slow_first) continue;
    has_first = true;
    CHECK(one.plan.replicas[0].devices == std::vector<int>{1, 0});
    CHECK(one.iteration == 84'000'000'000);
  }
  CHECK(has_first);
}

// Four stages of eight tensor ranks, each on a host. Layer 9 goes to the first stage: every rank
// has an eighth of its 218,112,000 parameters, of 14 bytes each, and a NIC of 50 GB/s.
TEST_CASE("replan: moving states takes what the busiest NIC needs") {
  const Case c = replanned(repository() / "scenarios/replan.yaml",
                           {{"plan.tensor", "8"}, {"plan.data", "{sharding: none}"}});
  training::Job job = c.loaded.job;
  plan::Replica whole{{8, 8, 8, 8}, {9, 7, 8, 8}, 128, std::vector<int>(32), 0};
  std::iota(whole.devices.begin(), whole.devices.end(), 0);
  const auto to = [&](const plan::Replica& replica) {
    plan::Plan next = job.plan;
    plan::set_replicas(next, {replica});
    return training::moving(job, next).value();
  };
  const double each = 218'112'000 / 8.0 * 14;
  const training::Moving one = to(whole);
  CHECK(one.total.value() == approximately(8 * each));
  CHECK(one.into_one.value() == approximately(each));
  const double efficiency = training::profile_of(job, 0).network().efficiency;
  CHECK(to_seconds(one.time).value() == doctest::Approx(each / (50e9 * efficiency)).epsilon(0.01));
  // At half of the rate of one NIC it takes twice as long.
  const auto links = job.cluster->links_of_part("h1.nic3");
  for (const auto link : links) {
    job.disturbances.push_back({training::Disturbance::Kind::link, link, 0.5, Seconds(0)});
  }
  CHECK(to_seconds(to(whole).time).value() ==
        doctest::Approx(2 * to_seconds(one.time).value()).epsilon(0.01));
  whole.layers = {8, 8, 8, 8};
  CHECK(to(whole).total.value() == 0);
  CHECK(to(whole).time == 0);
}

TEST_CASE("replan: when moving has paid, in whole iterations") {
  training::Replan replan;
  replan.slow = 7, replan.best = 0;
  replan.tried.resize(1);
  replan.tried[0].iteration = 5;
  replan.moving.emplace().time = 5;
  CHECK(replan.iterations_to_pay() == 3);
  replan.moving->time = 4;
  CHECK(replan.iterations_to_pay() == 2);
}

TEST_CASE("replan: what is written runs as what was simulated") {
  const auto file = repository() / "scenarios/replan.yaml";
  const std::vector<std::vector<scenario::Override>> variants = {
      {},
      {{"plan.pipeline.schedule", "zb-h1"}, {"training.micro_batch", "2"}},
      {{"plan.tensor", "4"},
       {"plan.data", "{}"},
       {"placement.order", "[tensor, context, pipeline, data]"}},
      {{"plan.tensor", "8"}, {"plan.pipeline.stages", "2"}},
      {{"stragglers", "[{part: h0, compute: 70 %}, {part: h3.gpu7, compute: 20 %, memory: 50 %}]"}},
      {{"plan.pipeline.stages", "1"}, {"plan.tensor", "4"}}};
  for (const auto& overrides : variants) {
    CAPTURE(overrides.empty() ? "" : overrides.front().value);
    const Case c = replanned(file, overrides);
    CHECK(c.best().iteration < c.replan.slow);
    CHECK(c.best().fits);
    const training::Result again = run_written(c, file, overrides);
    CHECK(again.iteration_ps() == c.best().iteration);
    CHECK(again.fingerprint == c.best().fingerprint);
    CHECK(again.fits);
  }
}

TEST_CASE("replan: options are written too, and sections about the other plan are not") {
  const auto file = repository() / "scenarios/worked/pipeline-1f1b.yaml";
  const std::vector<scenario::Override> overrides = {{"stragglers", "[{rank: 1, compute: 50 %}]"},
                                                     {"training.global_batch", "12"}};
  const Case c = replanned(file, overrides);
  const training::Result again = run_written(c, file, overrides);
  CHECK(again.iteration_ps() == c.best().iteration);
  CHECK(again.fingerprint == c.best().fingerprint);
}

TEST_CASE("README: replan prints what the README shows") {
  const Case c = replanned(repository() / "scenarios/replan.yaml");
  const std::string text = command::ReplanReport{c.replan, *c.loaded.cluster, {}}.text();
  INFO(text);
  std::ifstream file(repository() / "README.md");
  std::stringstream readme;
  readme << file.rdbuf();
  CHECK(readme.str().find(text) != std::string::npos);
}
