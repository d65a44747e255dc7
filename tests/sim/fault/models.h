// Small models of jobs for tests, and rates by a rule.
#pragma once

#include <doctest/doctest.h>

#include "sim/fault/estimate.h"
#include "tests/approximately.h"

namespace sim::fault {

// Replicas train at the same speed each; nothing slows them.
inline Rates even_rates() {
  return Rates([](const ClusterState& state) { return static_cast<double>(state.replicas); });
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

}  // namespace sim::fault
