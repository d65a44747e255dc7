// From a scenario with failures to what is said about weeks of its job.
#pragma once

#include <array>

#include "sim/command/load.h"
#include "sim/fault/outlook.h"
#include "sim/training/result.h"

namespace sim::command {

struct JobTimeOptions {
  int threads = 1;
  bool shows_progress = false;  // on stderr
};

// The model of the job, with what it assumes; simulates nothing.
struct JobModel {
  fault::Model model;
  std::array<BytesPerSecond, fault::writing_count> writing_per_nic = {};
  std::array<bool, fault::writing_count> leaves_group = {};  // as in fault::EngineJob
  std::vector<std::string> notes;
};
// REQUIRES: the scenario has failures; `whole` is the result of its iterations.
JobModel job_model(const scenario::Scenario& scenario, const training::Result& whole);

// Throws fault::StateCannotRun. REQUIRES: the scenario has failures.
fault::Outlook job_outlook(const scenario::Scenario& scenario, const LoadedJob& loaded,
                           const training::Result& whole, const JobTimeOptions& options);

// Without what would be better, so in less time. Throws fault::StateCannotRun. REQUIRES: as above.
fault::Estimate job_estimate(const scenario::Scenario& scenario, const LoadedJob& loaded,
                             const training::Result& whole, const JobTimeOptions& options);

}  // namespace sim::command
