// All that is said about a job over weeks.
#pragma once

#include <map>

#include "sim/fault/interval.h"
#include "sim/fault/spares.h"

namespace sim::fault {

struct Question {
  Model model;
  std::string policy;
  Effort effort;
  double spare_target = 0.99;
  int search_histories_max = 64;  // of each interval that is tried
};

struct Outlook {
  Model model;
  std::string policy;
  Estimate estimate;
  double precision = 0;                     // asked for
  std::optional<Interval> best;             // none where failures do nothing
  std::optional<Seconds> young, daly;       // with the mean time to interruption found
  std::optional<double> ratio_young;        // by simulation
  std::vector<SparesNeeded> spares_needed;  // empty where no failure takes a host
  std::int64_t states = 0;                  // of the cluster, that the engine was asked for
  std::vector<Episode> episodes;            // of the first history

  // What the rest of the program adds.
  double iteration_s = 0, tokens_per_second = 0;  // undisturbed
  double tokens = 0;                              // asked for; 0: none
  int devices = 0;                                // spares too
  std::optional<double> device_hour;              // price [USD]
  std::vector<std::string> notes;                 // assumptions, for people

  // Wall time until `tokens`, at the ratio found where the job ends earlier. REQUIRES: tokens > 0.
  double time_to_tokens() const;
};

// REQUIRES: `effort.progress` may be called from this thread.
Outlook outlook(const Question& question, Rates& rates);

}  // namespace sim::fault
