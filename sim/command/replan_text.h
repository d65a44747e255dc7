// A job planned anew, as text and as JSON.
#pragma once

#include <string>

#include "sim/scenario/tree.h"
#include "sim/training/replan.h"
#include "topology/cluster.h"

namespace sim::command {

// "regrouped, slow stages first".
std::string described(const plan::Replanning& replanning);

struct ReplanReport {
  const training::Replan& replan;
  const topology::Cluster& cluster;
  std::vector<std::string> notes;

  std::string text() const;
  std::string json() const;
  // Of the best plan: the section that a scenario holds.
  std::string plan_text() const;

 private:
  const training::PlannedAnew* best() const {
    return replan.best ? &replan.tried[*replan.best] : nullptr;
  }
  // Names.
  std::vector<std::string> idle_devices() const;
  std::string slow_devices() const;
  std::string moving_text() const;
};

}  // namespace sim::command
