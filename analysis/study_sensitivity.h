// What each axis of a study does alone, and how sure the first place is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/study_result.h"

namespace analysis {

// The first objective over the acceptable candidates that differ from the best one in nothing but
// one axis.
struct Swing {
  std::string path;  // the first of the axis
  double low = 0, high = 0;
  std::size_t low_candidate = 0, high_candidate = 0;
  std::string low_shown, high_shown;  // values at the path
};
// The largest swing first; axes along which no other candidate is acceptable are left out.
std::vector<Swing> sensitivity(const StudyResult& result);

// A candidate beside the best one.
struct Rival {
  std::size_t candidate = 0;
  // That the best one is better in the first objective. Nothing where no interval is known.
  std::optional<double> probability;
  // Of the rival, at which it has as many tokens per dollar as the best one. Nothing without
  // prices.
  std::optional<double> break_even_usd_per_hour;
};
// The next best, at most so many.
std::vector<Rival> rivals(const StudyResult& result, std::size_t most);

}  // namespace analysis
