// The results of a study: what is best, what is on the Pareto front, and the forms they are shown
// in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/study_record.h"
#include "sim/scenario/study.h"

namespace analysis {

struct StudyResult {
  sim::scenario::Study study;
  std::vector<sim::scenario::Candidate> candidates;
  std::vector<StudyRecord> records;  // [candidate]
  std::int64_t filtered = 0;         // points that the filters left out
};

// Acceptable candidates, the best first by the first objective; equally good ones in their order.
std::vector<std::size_t> ranking(const StudyResult& result);

// Acceptable candidates that no other one beats in one objective without losing in another, in
// their order.
std::vector<std::size_t> pareto_front(const StudyResult& result);

// Paths of all axes, in order, each once.
std::vector<std::string> axis_paths(const sim::scenario::Study& study);
// What the candidate sets there; empty: the axis is not there.
std::string shown_at(const sim::scenario::Candidate& candidate, const std::string& path);

// Why candidates are not acceptable: each reason once, the most frequent first.
struct Reason {
  Verdict verdict = Verdict::wrong;
  std::string why, hint;
  std::vector<std::size_t> candidates;
};
std::vector<Reason> reasons(const StudyResult& result);

// What the figures assume, each line once: of all candidates, and sources of the prices.
std::vector<std::string> notes(const StudyResult& result);

std::string study_text(const StudyResult& result);
std::string study_json(const StudyResult& result);
std::string study_csv(const StudyResult& result);
std::string study_html(const StudyResult& result);
// The bytes of study.h5.
std::string study_file(const StudyResult& result);

}  // namespace analysis
