// Jobs of weeks: from a scenario to what is said about it.
#include "sim/command/job_time.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

#include "analysis/job_summary.h"
#include "analysis/json.h"
#include "sim/fault/engine_rates.h"
#include "sim/fault/shorter_replica.h"
#include "sim/scenario/document.h"
#include "tests/approximately.h"
#include "tests/scenarios/run_scenario.h"

using namespace sim;

namespace {

struct Job {
  scenario::Scenario scenario;
  command::LoadedJob loaded;
  training::Result result;
};

// The iteration of a scenario with failures, ready to be asked.
Job job_of(const std::filesystem::path& file, const std::vector<scenario::Override>& overrides) {
  Diagnostics diagnostics;
  auto read = scenario::read_scenario(file, overrides, command::catalog(), diagnostics);
  INFO(diagnostics.text());
  REQUIRE(read);
  auto loaded = command::load(*read, diagnostics);
  REQUIRE(loaded);
  auto outcome = training::simulate(loaded->job);
  REQUIRE(std::holds_alternative<training::Result>(outcome));
  return {std::move(*read), std::move(*loaded), std::get<training::Result>(std::move(outcome))};
}

fault::Outlook outlook_of(const Job& job, int threads = 1) {
  return command::job_outlook(job.scenario, job.loaded, job.result, {threads, false});
}

const std::filesystem::path llama = repository() / "scenarios/failures-16k.yaml";

// A schedule that takes less time to simulate.
const scenario::Override plain_pipeline = {"plan.pipeline", "{stages: 16, schedule: 1f1b}"};

// Two hosts of eight devices, and one spare.
std::filesystem::path small() { return repository() / "scenarios/failures-small.yaml"; }

const fault::Cause& cause_of(const fault::Outlook& outlook, const std::string& name) {
  for (std::size_t p = 0; p < outlook.estimate.causes.size(); ++p) {
    if (outlook.model.processes[p].cause == name) return outlook.estimate.causes[p];
  }
  FAIL("no cause ", name);
  return outlook.estimate.causes[0];
}

}  // namespace

TEST_CASE("job time: Llama 3 for 54 days; the interruptions that were counted come back") {
  const Job job =
      job_of(llama, {{"run.histories", "{precision: 0.15 %, most: 32}"}, plain_pipeline});
  const fault::Outlook found = outlook_of(job);
  // 419 that nobody planned and 47 planned. A failure while the job is stopped for corruption that
  // is yet to be found is not lost, so all come back but those beyond the end. The error of the
  // mean of 32 is 0.8 %.
  CHECK(found.estimate.interruptions.mean == doctest::Approx(466).epsilon(0.025));
  CHECK(cause_of(found, "faulty GPU").interruptions == doctest::Approx(148).epsilon(0.04));
  CHECK(cause_of(found, "HBM3 memory").interruptions == doctest::Approx(72).epsilon(0.06));
  CHECK(cause_of(found, "planned").interruptions == doctest::Approx(47).epsilon(0.06));
  // 54 days / 466 = 2.78 h.
  CHECK(found.estimate.time_to_interruption / 3600 == doctest::Approx(2.781).epsilon(0.025));
  REQUIRE(found.best);
  CHECK(found.best->ratio > found.estimate.ratio.mean);
  // Spares are many, so there is one state of the cluster.
  CHECK(found.states == 1);
  const double sum = std::accumulate(found.estimate.lost.begin(), found.estimate.lost.end(),
                                     found.estimate.work.mean);
  CHECK(sum == doctest::Approx(54 * 86400.0).epsilon(1e-9));
}

TEST_CASE("job time: histories of 54 days that shrink ask the engine at most 200 times") {
  const Job job = job_of(llama, {{"recovery.policy", "shrink"},
                                 {"cluster.spares", "0"},
                                 {"cluster.hosts.0.count", "2048"},
                                 {"checkpoint.mode", "async"},
                                 {"cluster.fabric.oversubscription", "1"},
                                 plain_pipeline});
  const command::JobModel built = command::job_model(job.scenario, job.result);
  const fault::EngineJob engine{&job.loaded.job, &job.scenario.cluster, &job.result,
                                built.writing_per_nic};
  int runs = 0;
  fault::Rates rates([&](const fault::ClusterState& state) {
    ++runs;
    return fault::samples_per_second(engine, state);
  });
  fault::Effort effort;
  effort.precision = 0;
  effort.histories_max = 64;
  const fault::Estimate found =
      fault::estimate(built.model, *fault::policy("shrink"), rates, effort);
  CHECK(found.histories == 64);
  MESSAGE(runs, " engine runs");
  CHECK(runs >= 3);  // whole and with 127 replicas, one of them while a checkpoint is written
  CHECK(runs <= 200);
  CHECK(runs == rates.asked());
}

TEST_CASE("job time: effective time of Llama 3 over checkpoint time and restart time") {
  // More than 90 % is published. Every 5 minutes or best; columns are restart times.
  const Job job = job_of(llama, {plain_pipeline});
  command::JobModel built = command::job_model(job.scenario, job.result);
  fault::Rates rates([](const fault::ClusterState&) { return 1.0; });
  const auto restarts = fault::policy("restart");
  fault::Effort effort;
  effort.precision = 0.02;
  double last_row = 1;
  for (const double write : {1.0, 10.0, 60.0}) {
    std::string row = fmt::format("checkpoint {:3.0f} s:", write);
    double last = 1;
    for (const double restart : {60.0, 300.0, 900.0}) {
      fault::Model model = built.model;
      model.checkpoint.stall = model.checkpoint.drain = Seconds(write);
      model.recovery.restart = Seconds(restart);
      model.checkpoint.every = fault::young_interval(Seconds(write), Seconds(2.78 * 3600));
      const double ratio = fault::estimate(model, *restarts, rates, effort).ratio.mean;
      row += fmt::format("  restart {:3.0f} s {:.2f} %", restart, 100 * ratio);
      CHECK(ratio < last);
      if (restart == 60) {
        CHECK(ratio < last_row);
        last_row = ratio;
      }
      last = ratio;
    }
    MESSAGE(row);
  }
}

TEST_CASE("job time: the small scenario, by hand") {
  const Job job = job_of(small(), {});
  const command::JobModel built = command::job_model(job.scenario, job.result);
  // Sixteen devices, 2 failures in 1,000 days each: 0.032 a day; eight NICs a host.
  REQUIRE(built.model.processes.size() == 2);
  CHECK(built.model.processes[0].parts == 16);
  CHECK(built.model.processes[1].parts == 16);
  CHECK(fault::rate({built.model.processes[0]}, fault::Planned::left_out) * 86400 ==
        approximately(0.032));
  // 800 GB at 10 GB/s of the storage, which 16 NICs of 50 GB/s exceed; read at 20 GB/s.
  CHECK(built.model.checkpoint.stall.value() == approximately(80.0));
  CHECK(built.model.checkpoint.read.value() == approximately(40.0));
  CHECK(built.model.checkpoint.write.value() == 0);
  CHECK(built.model.machines.hosts == 2);
  CHECK(built.model.machines.spares == 1);
  CHECK(built.model.machines.replicas == 4);
  CHECK(built.model.machines.ranks_per_replica == 4);
  CHECK(built.model.recovery.restart == Seconds(360));
}

TEST_CASE("job time: a storage at half its rates takes twice as long") {
  const Job job = job_of(small(), {{"stragglers", "[{part: storage, link: 50 %}]"}});
  const command::JobModel built = command::job_model(job.scenario, job.result);
  CHECK(built.model.checkpoint.stall.value() == approximately(160.0));
  CHECK(built.model.checkpoint.read.value() == approximately(80.0));
}

// A storage that is slow for a while is a matter of each history, not of the rates.
TEST_CASE("job time: a storage that is slow now and then") {
  const Job job = job_of(
      small(), {{"stragglers",
                 "[{part: storage, link: 50 %}, {part: storage, link: 20 %, every: 7 d, for: "
                 "1 d}, {part: storage, link: 40 %, ramp: {over: 2 d, steps: 2, start: 80 %}}]"}});
  const command::JobModel built = command::job_model(job.scenario, job.result);
  CHECK(built.model.checkpoint.stall.value() == approximately(160.0));
  CHECK(built.model.checkpoint.write_room == 1);
  REQUIRE(built.model.storage.size() == 2);
  CHECK(built.model.storage[0].share == 0.2);
  const auto& steps = std::get<fault::Slowness::Recorded>(built.model.storage[1].course);
  // Two steps of a day on a line from 80 % to 40 %, each at its middle, then 40 %.
  CHECK(steps.at == std::vector<Seconds>{Seconds(0), Seconds(86400), Seconds(2 * 86400)});
  CHECK(steps.share[0] == approximately(0.7));
  CHECK(steps.share[1] == approximately(0.5));
  CHECK(steps.share[2] == approximately(0.4));
  const auto lost = [](const Job& one) {
    const auto outlook = outlook_of(one);
    return outlook.estimate.lost[static_cast<std::size_t>(fault::Loss::checkpoint)] /
           outlook.estimate.checkpoints;
  };
  const scenario::Override few{"run.histories", "{precision: 5 %, most: 32}"};
  const Job slow =
      job_of(small(), {few, {"stragglers", "[{part: storage, link: 20 %, every: 7 d, for: 1 d}]"}});
  // Three of about 17.7 days: 3 x 86400 / 7600 = 34 checkpoints take 400 s, 14.7 x 86400 / 7280 =
  // 175 take 80 s.
  CHECK(lost(job_of(small(), {few})) == approximately(80.0));
  CHECK(lost(slow) == doctest::Approx((34 * 400 + 175 * 80) / 209.0).epsilon(0.02));
}

// Two leaves of one host each at 2:1 have 25 GB/s up a NIC. What is written takes 10 GB/s of them,
// as if they were at 1 / (1 / 2 - 10 / 50) : 1.
TEST_CASE("job time: what is written passes the up links of the leaves, or does not") {
  const std::vector<scenario::Override> base = {
      {"cluster.fabric.hosts_per_group", "1"},
      {"dnn.timed.boundary", "100 MB"},
      {"plan.pipeline.stages", "2"},
      {"placement", "{order: [tensor, context, data, pipeline]}"}};
  const auto with = [&](const char* path, const std::string& value) {
    auto all = base;
    all.push_back({path, value});
    return job_of(small(), all);
  };
  const Job job = with("cluster.fabric.oversubscription", "2");
  constexpr auto way = static_cast<std::size_t>(fault::Writing::to_storage);
  fault::EngineJob engine{&job.loaded.job, &job.scenario.cluster, &job.result, {}, {}};
  engine.writing_per_nic[way] = gigabytes_per_second(10);
  const int all = job.scenario.plan.data;
  const double beside = fault::samples_per_second(engine, {all, fault::Writing::to_storage});
  engine.leaves_group[way] = true;
  const double beyond = fault::samples_per_second(engine, {all, fault::Writing::to_storage});
  const Job narrow = with("cluster.fabric.oversubscription", "3.3333333333333335");
  const fault::EngineJob free{&narrow.loaded.job, &narrow.scenario.cluster, &narrow.result, {}, {}};
  CHECK(beside == approximately(fault::samples_per_second(engine, {all})));
  CHECK(beyond < beside);
  CHECK(beyond == approximately(fault::samples_per_second(free, {all})));
}

TEST_CASE("job time: the README shows what the small scenario prints") {
  const std::string text = analysis::job_summary(outlook_of(job_of(small(), {})));
  std::ifstream file(repository() / "README.md");
  std::stringstream readme;
  readme << file.rdbuf();
  INFO(text);
  CHECK(readme.str().find(text) != std::string::npos);
}

TEST_CASE("job time: writing beside training takes from the NICs what it needs") {
  const Job job = job_of(small(), {{"checkpoint.mode", "async"}, {"dnn.timed.boundary", "1 GB"}});
  const command::JobModel built = command::job_model(job.scenario, job.result);
  // Each of four devices of a replica copies 200 GB at 63 GB/s of PCIe; one host writes, with half
  // of its eight NICs 200 GB/s, more than the storage: 80 s at 10 / 8 = 1.25 GB/s a NIC.
  CHECK(built.model.checkpoint.stall.value() == approximately(200.0 / 63));
  CHECK(built.model.checkpoint.write.value() == approximately(80.0));
  constexpr auto storage = static_cast<std::size_t>(fault::Writing::to_storage);
  CHECK(built.writing_per_nic[storage].value() == approximately(1.25e9));
  const fault::EngineJob engine{&job.loaded.job,
                                &job.scenario.cluster,
                                &job.result,
                                {BytesPerSecond(0), gigabytes_per_second(25)}};
  const double free = fault::samples_per_second(engine, {4});
  CHECK(free == approximately(job.result.samples_per_iteration /
                              (static_cast<double>(job.result.iteration_ps()) * 1e-12)));
  CHECK(fault::samples_per_second(engine, {4, fault::Writing::to_storage}) < free);
  // A storage on a network of its own takes nothing from the NICs.
  const Job apart =
      job_of(small(), {{"checkpoint.mode", "async"},
                       {"cluster.storage", "{write: 500 GB/s, read: 1 TB/s, at: apart}"}});
  const command::JobModel alone = command::job_model(apart.scenario, apart.result);
  CHECK(alone.model.checkpoint.write.value() == approximately(1.6));
  CHECK(alone.model.checkpoint.read.value() == approximately(0.8));
  CHECK(alone.writing_per_nic[storage].value() == 0);
  // Three of four replicas have three quarters of the samples, and no slower iterations.
  const double three = fault::samples_per_second(engine, {3});
  CHECK(three > 0.75 * free * (1 - 1e-9));
  CHECK(three < free);
}

TEST_CASE("job time: copies in memory undo less, and going on without restarts less still") {
  const std::filesystem::path file = repository() / "scenarios/failures-memory.yaml";
  const auto rework = [](const fault::Outlook& o) {
    return o.estimate.lost[static_cast<std::size_t>(fault::Loss::rework)];
  };
  const scenario::Override few{"run.histories", "{precision: 1 %, most: 32}"};
  const scenario::Override rare{"checkpoint.memory.every", "119 min"};
  const auto with = outlook_of(job_of(file, {few}));
  const auto without = outlook_of(job_of(file, {few, rare}));
  const auto on = outlook_of(
      job_of(file, {few, {"recovery.policy", "reroute"}, {"recovery.reconfigure", "20 s"}}));
  // About half of the time between copies: 2.5 min, or an hour.
  const double interruptions = with.estimate.interruptions.mean;
  CHECK(rework(with) / interruptions == doctest::Approx(150).epsilon(0.25));
  CHECK(rework(without) / without.estimate.interruptions.mean ==
        doctest::Approx(3600).epsilon(0.25));
  CHECK(rework(on) < 0.7 * rework(with));
  CHECK(on.states > 1);
}

TEST_CASE("job time: three replicas do the micro-batches of four") {
  // 32 micro-batches over three replicas: 11 for those that set the pace, (11 + 3) x 18 ms instead
  // of (8 + 3) x 18 ms, and a little for sending.
  const Job job = job_of(small(), {});
  const fault::EngineJob engine{&job.loaded.job, &job.scenario.cluster, &job.result, {}};
  const double whole = fault::samples_per_second(engine, {4}),
               rerouted = fault::samples_per_second(engine, {3, fault::Writing::none, true});
  CHECK(rerouted / whole == doctest::Approx(11.0 / 14).epsilon(1e-3));
  CHECK(fault::samples_per_second(engine, {2, fault::Writing::none, true}) / whole ==
        doctest::Approx(11.0 / 19).epsilon(1e-3));
}

// Four replicas of two hosts, 16 stages of 18 ms: (32 + 15) x 18 ms. With seven hosts the last has
// 8 stages of 36 ms, of which each micro-batch counts 7 for filling: 37 + 15 = 52 and 2 x (17 + 7)
// = 48; in 51 three times 36 and 18 are 126 of 128. Left out: 43 + 15 = 58.
TEST_CASE("job time: planned anew, a replica without one of its hosts is a shorter pipeline") {
  const std::vector<scenario::Override> overrides = {
      {"cluster.hosts.0.count", "8"},
      {"cluster.spares", "0"},
      {"dnn.timed.layers", "16"},
      {"plan.pipeline.stages", "16"},
      {"training.global_batch", "128"},
      {"failures.0.observed", "{failures: 20, over: 1000 d}"},
      {"run.histories", "{precision: 1 %, most: 32}"}};
  const auto job_with = [&](const char* policy) {
    auto all = overrides;
    all.push_back({"recovery.policy", policy});
    return job_of(small(), all);
  };
  const Job job = job_with("replan");
  const auto plan = fault::with_shorter_replica(job.loaded.job, 3, 8);
  REQUIRE(plan);
  REQUIRE(plan->replicas.size() == 4);
  CHECK(plan->replicas[0].micro_batches == 37);
  CHECK(plan->replicas[3].micro_batches == 17);
  CHECK(plan->replicas[3].layers == std::vector<int>(8, 2));
  CHECK(plan->replicas[3].devices == std::vector<int>{48, 49, 50, 51, 52, 53, 54, 55});
  const fault::EngineJob engine{&job.loaded.job, &job.scenario.cluster, &job.result, {}};
  const double whole = fault::samples_per_second(engine, {4});
  CHECK(fault::samples_per_second(engine, {3, fault::Writing::none, true, 1}) / whole ==
        doctest::Approx(47.0 / 52).epsilon(1e-3));
  CHECK(fault::samples_per_second(engine, {3, fault::Writing::none, true, 0}) / whole ==
        doctest::Approx(47.0 / 58).epsilon(1e-3));
  const fault::Outlook one = outlook_of(job, 1);
  CHECK(analysis::job_summary(one) == analysis::job_summary(outlook_of(job, 3)));
  const double shrunk = outlook_of(job_with("shrink")).estimate.ratio.mean;
  CHECK(one.estimate.ratio.mean > shrunk);
  CHECK(shrunk > outlook_of(job_with("restart")).estimate.ratio.mean);
}

TEST_CASE("job time: the same text for any number of threads, another for another seed") {
  const Job job = job_of(small(), {});
  const std::string one = analysis::job_summary(outlook_of(job, 1));
  CHECK(one == analysis::job_summary(outlook_of(job, 3)));
  const auto one_json = outlook_of(job, 1), four_json = outlook_of(job, 4);
  CHECK(analysis::to_json(job.result, one_json) == analysis::to_json(job.result, four_json));
  CHECK(one != analysis::job_summary(outlook_of(job_of(small(), {{"run.histories.seed", "2"}}))));
}

TEST_CASE("job time: time and cost until a number of tokens") {
  const Job job = job_of(small(), {});
  const fault::Outlook found = outlook_of(job);
  // The scenario ends with its tokens: the work is tokens / tokens per second.
  const double work = 1e12 / found.tokens_per_second;
  CHECK(found.estimate.work.mean == doctest::Approx(work).epsilon(1e-9));
  CHECK(found.time_to_tokens() == found.estimate.wall.mean);
  CHECK(found.time_to_tokens() > work);
  CHECK(found.devices == 24);
  const std::string json = analysis::to_json(job.result, found);
  Diagnostics diagnostics;
  const auto tree = scenario::parse_document("json", json, diagnostics);
  REQUIRE(tree);
  const scenario::Value* said = tree->find("job");
  REQUIRE(said);
  const double cost = std::stod(said->find("cost_usd")->text);
  CHECK(cost == doctest::Approx(found.time_to_tokens() / 3600 * 24 * 2.5).epsilon(1e-9));
  CHECK(said->find("timeline")->items.size() > 10);
  CHECK(said->find("effective_training_time_ratio")->find("mean")->text ==
        fmt::format("{}", found.estimate.ratio.mean));
}
