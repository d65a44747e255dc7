// One candidate of a study: from its overrides to what is found of it.
#pragma once

#include <filesystem>

#include "analysis/study_record.h"
#include "sim/command/load.h"
#include "sim/scenario/study.h"
#include "sim/training/job.h"

namespace sim::command {

class Evaluator {
 public:
  // `always`: overrides of the command line, in front of a candidate's. `threads` serve one search.
  Evaluator(const scenario::Study& study, std::vector<scenario::Override> always, int threads)
      : study_(study), always_(std::move(always)), threads_(threads) {}

  // From any thread. What is wrong with the candidate is its verdict, never an error.
  analysis::StudyRecord evaluate(std::int64_t index, const scenario::Candidate& candidate) const;

 private:
  // Puts the fastest plan of the search into the job. Returns whether there is one.
  bool choose_plan(training::Job& job, analysis::StudyRecord& record) const;
  // Returns whether the job gets through its failures.
  bool count_failures(const scenario::Scenario& scenario, const LoadedJob& loaded,
                      const training::Result& result, analysis::StudyRecord& record) const;
  void judge(const scenario::Scenario& scenario, analysis::StudyRecord& record) const;

  const scenario::Study& study_;
  std::vector<scenario::Override> always_;
  int threads_;
};

}  // namespace sim::command
