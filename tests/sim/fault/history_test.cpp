// Histories worked out by hand, and what holds for all of them.
#include "sim/fault/history.h"

#include <cmath>
#include <numeric>

#include "sim/fault/spares.h"
#include "tests/sim/fault/models.h"

using namespace sim;
using namespace sim::fault;

TEST_CASE("history: one failure at 250 s, with a spare") {
  // Checkpoints end at 105 and 210; the failure undoes 40 s. 10 s later it is seen; 20 s restart
  // and 3 s reading: training goes on at 283 s. Then 717 s of which six checkpoints of 5 s end by
  // 913.
  Model model = eight_hosts(1);
  model.processes = {timed_failures(250, 1e6, 1, 1e5)};
  const History found = run(model, "restart", true);
  CHECK(found.wall == 1000);
  CHECK(lost(found, Loss::rework) == 40);
  CHECK(lost(found, Loss::detect) == 10);
  CHECK(lost(found, Loss::restart) == 20);
  CHECK(lost(found, Loss::read) == 3);
  CHECK(lost(found, Loss::wait) == 0);
  CHECK(lost(found, Loss::checkpoint) == 8 * 5);
  CHECK(found.work == 1000 - 40 - 33 - 40);
  CHECK(found.interruptions[0] == 1);
  CHECK(found.lost_by_process[0] == 73);
  CHECK(found.checkpoints == 8);
  REQUIRE(found.hosts_out.size() == 2);
  CHECK(found.hosts_out[1] == 1);
  CHECK(found.episodes.front().end == 100);
  CHECK(found.episodes.back().end == 1000);
  // A cold spare boots for 40 s more, a hot one takes over in 1 s instead of 20.
  model.recovery.spare = Recovery::Spare::cold;
  CHECK(lost(run(model, "restart"), Loss::restart) == 60);
  model.recovery.spare = Recovery::Spare::hot;
  CHECK(lost(run(model, "restart"), Loss::restart) == 1);
}

TEST_CASE("history: without a spare a job waits for the repair") {
  // Repaired 300 s after the failure at 250 s; detection took 10 s of these.
  Model model = eight_hosts(0);
  model.processes = {timed_failures(250, 1e6, 1, 300)};
  const History found = run(model, "restart");
  CHECK(lost(found, Loss::wait) == 290);
  CHECK(lost(found, Loss::restart) == 20);
  CHECK(found.lost_by_process[0] == 40 + 10 + 290 + 20 + 3);
}

TEST_CASE("history: a job that shrinks goes on with three of four replicas, and grows again") {
  // Training from 283 s at 3/4 of the speed. Checkpoints at 388, 493, 598 s: by then the host is
  // back (550 s), and the job restarts whole: 598 to 621 s. The 300 s before were 225 of work.
  Model model = eight_hosts(0);
  model.processes = {timed_failures(250, 1e6, 1, 300)};
  const History found = run(model, "shrink");
  CHECK(lost(found, Loss::wait) == 0);
  CHECK(lost(found, Loss::shrunk) == 75);
  CHECK(lost(found, Loss::restart) == 40);
  CHECK(lost(found, Loss::read) == 6);
  CHECK(found.growing == 23);
  CHECK(found.interruptions[0] == 1);
  // 200 before, 225 shrunk, and from 621 s on 379 s with three checkpoints.
  CHECK(found.work == 200 + 225 + 379 - 15);
}

TEST_CASE("history: the reference ignores failures") {
  Model model = eight_hosts(0);
  model.processes = {timed_failures(250, 1e6, 1, 300)};
  const History found = run(model, "ignore");
  CHECK(found.work == 1000 - 9 * 5);  // checkpoints at 105, 210, ... 945
  CHECK(found.interruptions[0] == 0);
}

TEST_CASE("history: maintenance is announced, so nothing is undone") {
  Model model = eight_hosts(8);
  model.processes = {timed_failures(250, 1e6, 8, 1e5)};
  model.processes[0].is_planned = true;
  const History found = run(model, "restart");
  CHECK(lost(found, Loss::rework) == 0);
  CHECK(lost(found, Loss::detect) == 0);
  CHECK(found.lost_by_process[0] == 5 + 20 + 3);
}

TEST_CASE("history: corruption is found late, and undoes the checkpoints since") {
  // Wrong from 150 s, found at 430 s: checkpoints of 205, 310 and 415 s are wrong too; back to the
  // work of 100 s at 100 s. Work by then: 430 - 4 * 5 = 410.
  Model model = eight_hosts(1);
  model.processes = {timed_failures(150, 1e6, 1, 1e5)};
  model.processes[0].found_after = Distribution::fixed(Seconds(280));
  CHECK(lost(run(model, "restart"), Loss::rework) == 310);
  // With only the newest two kept there is no right one: from the start.
  model.checkpoint.kept = 2;
  CHECK(lost(run(model, "restart"), Loss::rework) == 410);
}

TEST_CASE("history: a checkpoint that is written beside training can be used only afterwards") {
  // Stops of 5 s at 100 and 205 s; writing takes 60 s from then. At 250 s the second is not
  // written: back to the work of 100 s; 45 + 100 s are undone. Writing slows by a tenth.
  Model model = eight_hosts(1);
  model.processes = {timed_failures(250, 1e6, 1, 1e5)};
  model.checkpoint.write = Seconds(60);
  Rates rates([](const ClusterState& state) { return state.writing == Writing::none ? 4.0 : 3.6; });
  const History found = history(model, *policy("restart"), rates, {});
  // Work: 100, then 60 at 0.9 and 40, then 40 at 0.9.
  CHECK(lost(found, Loss::rework) == doctest::Approx(54 + 40 + 36).epsilon(1e-12));
  CHECK(rates.asked() == 2);
}

TEST_CASE(
    "history: a restart that a second failure interrupts starts over, unless told otherwise") {
  // Failures at 250 and 265 s: detection 250 to 260, restart cut at 265 s after 5 s; again 10,
  // 20, 3.
  Model model = eight_hosts(2);
  model.processes = {timed_failures(250, 1e6, 1, 1e5), timed_failures(265, 1e6, 1, 1e5)};
  const History found = run(model, "restart");
  CHECK(lost(found, Loss::detect) == 20);
  CHECK(lost(found, Loss::restart) == 25);
  CHECK(found.lost_by_process[0] == 40 + 10 + 5);
  CHECK(found.lost_by_process[1] == 33);
  model.recovery.is_interruptible = false;
  CHECK(run(model, "restart").interruptions[1] == 0);
}

TEST_CASE("history: work and losses make up the wall time") {
  for (const char* name : {"restart", "shrink", "reroute", "replan", "ignore"}) {
    CAPTURE(name);
    Model model = eight_hosts(1);
    model.horizon.duration = Seconds(50'000);
    model.checkpoint.write = Seconds(30);
    model.memory = MemoryLevel{{Seconds(25), Seconds(1), Seconds(4), {}, Seconds(2), 1}, 1};
    model.recovery.reconfigure = Seconds(7);
    FailureProcess hosts = random_interruptions(400);
    hosts.hosts = 1;
    hosts.repair = {Distribution::Kind::lognormal, Seconds(500), 1, {}};
    FailureProcess silent = random_interruptions(4000);
    silent.found_after = Distribution::exponential(Seconds(300));
    model.processes = {hosts, silent, timed_failures(1000, 3000, 2, 100)};
    model.processes[2].is_planned = true;
    Rates rates([](const ClusterState& s) {
      return s.replicas * (s.writing == Writing::none ? 1.0 : 0.9);
    });
    const History found = history(model, *policy(name), rates, {{3, 5}, true});
    const double sum = std::accumulate(found.lost.begin(), found.lost.end(), found.work);
    CHECK(found.wall == doctest::Approx(50'000).epsilon(1e-12));
    CHECK(sum == doctest::Approx(50'000).epsilon(1e-9));
    double end = 0;
    for (const Episode& episode : found.episodes) {
      CHECK(episode.start == doctest::Approx(end).epsilon(1e-12));
      end = episode.end;
    }
    CHECK(end == doctest::Approx(50'000).epsilon(1e-12));
    // Of each cause, and of none.
    const double blamed =
        std::accumulate(found.lost_by_process.begin(), found.lost_by_process.end(), found.growing);
    CHECK(blamed >=
          sum - found.work - lost(found, Loss::checkpoint) - lost(found, Loss::shrunk) - 1e-6);
  }
}

TEST_CASE("history: a job that only fails is given up") {
  Model model = renewal_model(1, 100, 1, 1);
  model.processes[0].life.distribution.scale = Seconds(0.1);
  model.horizon.work = Seconds(5);
  Rates rates = even_rates();
  const Estimate found = estimate(model, *policy("restart"), rates, {0.01, 32, 1, 1});
  CHECK(found.unfinished == 32);
}

TEST_CASE("estimate: the same for any number of threads, and as precise as asked for") {
  Model model = eight_hosts(1);
  model.horizon.duration = Seconds(1e5);
  FailureProcess hosts = random_interruptions(1000);
  hosts.hosts = 1;
  hosts.repair = Distribution::exponential(Seconds(700));
  model.processes = {hosts};
  Rates rates = even_rates();
  Effort effort;
  effort.precision = 0.003;
  const Estimate one = estimate(model, *policy("shrink"), rates, effort);
  effort.threads = 4;
  const Estimate four = estimate(model, *policy("shrink"), rates, effort);
  CHECK(one.histories == four.histories);
  CHECK(one.ratio.mean == four.ratio.mean);
  CHECK(one.ratio.half_width == four.ratio.half_width);
  CHECK(one.lost == four.lost);
  CHECK(one.is_precise);
  CHECK(one.histories < 1000);
  CHECK(one.ratio.half_width <= 0.003 * one.ratio.mean);
  CHECK(rates.asked() <= 4);
}

TEST_CASE("spares: as many as the Poisson distribution of hosts under repair says") {
  // Failures every 100 s and repairs of 300 s: those that others left out are Poisson with mean 3,
  // whatever the distribution of repairs, and its own makes one more. Sum of e^-3 3^k / k! up to k:
  // 0.647 at 3, 0.815 at 4, 0.916 at 5, 0.966 at 6, 0.988 at 7, 0.9962 at 8.
  Model model = eight_hosts(0);
  model.checkpoint.every = Seconds(20);
  model.horizon.duration = Seconds(1e5);
  FailureProcess hosts = random_interruptions(100);
  hosts.hosts = 1;
  hosts.repair = {Distribution::Kind::lognormal, Seconds(300 / std::exp(0.5)), 1, {}};
  model.processes = {hosts};
  Rates rates = even_rates();
  const auto needed = spares_needed(model, rates, {0.5, 0.95, 0.99}, {0.01, 64, 1, 1});
  REQUIRE(needed.size() == 3);
  CHECK(needed[0].hosts == 4);
  CHECK(needed[1].hosts == 7);
  CHECK(needed[2].hosts == 9);
}

// A history whose episodes are kept goes step by step.
TEST_CASE("history: whole cycles at once come to what steps come to") {
  for (const double write : {0.0, 20.0, 99.0, 150.0}) {
    for (const double failures : {1e9, 5000.0, 700.0}) {
      Model model = eight_hosts(1);
      model.horizon.duration = Seconds(1e5 + 37);
      model.checkpoint.write = Seconds(write);
      model.checkpoint.drain = Seconds(5 + write);
      FailureProcess hosts = random_interruptions(failures);
      hosts.hosts = 1;
      hosts.repair = Distribution::fixed(Seconds(3000));
      FailureProcess silent = hosts;
      silent.life = {Distribution::exponential(Seconds(3 * failures)), 0, {}};
      silent.found_after = Distribution::exponential(Seconds(1000));
      model.processes = {hosts, silent};
      model.checkpoint.kept = write == 99 ? 4 : 0;
      for (const char* name : {"restart", "shrink"}) {
        const auto ask = [](const ClusterState& state) {
          return state.replicas * (state.writing == Writing::none ? 1 : 0.9);
        };
        Rates rates(ask);
        const History skipped = history(model, *policy(name), rates, {{}, false});
        const History steps = history(model, *policy(name), rates, {{}, true});
        CAPTURE(write);
        CAPTURE(failures);
        CAPTURE(name);
        CHECK(skipped.work == approximately(steps.work));
        CHECK(skipped.wall == approximately(steps.wall));
        CHECK(skipped.checkpoints == steps.checkpoints);
        CHECK(skipped.interruptions == steps.interruptions);
        for (std::size_t i = 0; i < loss_count; ++i) {
          CHECK(skipped.lost[i] == doctest::Approx(steps.lost[i]).epsilon(1e-9));
        }
      }
    }
  }
}
