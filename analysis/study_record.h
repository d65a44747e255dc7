// What a study finds of one candidate, as a line of text that reads back as it was.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/study.h"
#include "sim/training/result.h"

namespace analysis {

enum class Verdict {
  acceptable,
  over_limit,    // keeps not a constraint
  does_not_fit,  // into the memory
  wrong,         // no scenario, or no plan for it
  stuck,         // streams wait for each other
  too_large,     // would be run rank by rank
};
const char* name(Verdict verdict);

// A plan that a search found, and its time.
struct FoundPlan {
  std::string plan;  // "plan.tensor=4 plan.pipeline.stages=2 ..."
  std::int64_t iteration_ps = 0;
};

struct StudyRecord {
  std::int64_t candidate = 0;
  Verdict verdict = Verdict::wrong;
  std::string why, hint;  // not acceptable
  std::string plan;       // that a search chose; empty: the candidate's own
  std::int64_t devices = 0, iteration_ps = 0;
  sim::training::Interval interval;  // 0: unknown
  double tokens_per_second = 0;      // of the effective training time, where failures are counted
  double model_flops_utilization = 0;
  double memory_peak = 0, memory_capacity = 0;  // [bytes] of the fullest rank; 0: unknown
  std::array<std::int64_t, sim::training::category_count> time{};  // [Category] ps
  double effective_time = 0;        // share of the time that trains; 0: failures are not counted
  double effective_time_error = 0;  // half width of its 95 % interval
  double power_watts = 0, purchase_usd = 0, usd_per_hour = 0;  // 0: unknown
  std::uint64_t fingerprint = 0;
  std::vector<FoundPlan> found;                                    // best first
  std::int64_t plans = 0, plans_fitting = 0, plans_simulated = 0;  // of a search
  std::vector<std::string> notes;  // origins of the durations, what is left out

  // Nothing where it is unknown.
  std::optional<double> value(sim::scenario::Measure measure) const;
};

// One line without its end.
std::string encoded(const StudyRecord& record);
// Nothing if the text is none of ours.
std::optional<StudyRecord> decoded(const std::string& text);

}  // namespace analysis
