// Small models of jobs for tests, and rates by a rule.
#pragma once

#include <doctest/doctest.h>

#include "sim/fault/estimate.h"
#include "sim/fault/history.h"
#include "tests/approximately.h"

namespace sim::fault {

// Replicas train at the same speed each, a host of one that lacks the other at half of it; nothing
// slows them.
inline Rates even_rates() {
  return Rates([](const ClusterState& state) { return state.replicas + state.part / 2.0; });
}

// Interruptions of the whole job that take no host, at random.
inline FailureProcess random_interruptions(double mean_seconds) {
  FailureProcess process;
  process.cause = "any";
  process.life = {Distribution::exponential(Seconds(mean_seconds)), 0, {}};
  process.hosts = 0;
  return process;
}

// Blocking checkpoints that take `stall`, restarts that take `restart`; detection takes no time.
inline Model renewal_model(double mean_seconds, double every, double stall, double restart) {
  Model model;
  model.processes = {random_interruptions(mean_seconds)};
  model.checkpoint.every = Seconds(every);
  model.checkpoint.stall = Seconds(stall);
  model.checkpoint.drain = Seconds(stall);
  model.recovery.restart = Seconds(restart);
  return model;
}

inline double lost(const History& history, Loss loss) {
  return history.lost[static_cast<std::size_t>(loss)];
}

// Failures at known times: every `every` from `first`.
inline FailureProcess timed_failures(double first, double every, int hosts, double repair) {
  FailureProcess process;
  process.cause = "timed";
  process.calendar = FailureProcess::Calendar{Seconds(first), Seconds(every)};
  process.hosts = hosts;
  process.repair = Distribution::fixed(Seconds(repair));
  return process;
}

// 4 replicas of 2 hosts.
inline Model eight_hosts(int spares) {
  Model model;
  model.machines = {8, spares, 4, 8, 16};
  model.checkpoint.every = Seconds(100);
  model.checkpoint.stall = model.checkpoint.drain = Seconds(5);
  model.checkpoint.read = Seconds(3);
  model.recovery.detect = Distribution::fixed(Seconds(10));
  model.recovery.restart = Seconds(20);
  model.recovery.boot = Seconds(40);
  model.recovery.takeover = Seconds(1);
  model.horizon.duration = Seconds(1000);
  return model;
}

inline History run(const Model& model, const char* name, bool keeps_episodes = false) {
  Rates rates = even_rates();
  return history(model, *policy(name), rates, {{}, keeps_episodes});
}

}  // namespace sim::fault
