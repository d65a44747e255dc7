// Drawings of a study, as SVG that needs nothing else.
#pragma once

#include <string>

#include "analysis/study_result.h"

namespace analysis {

// The first two objectives of every acceptable candidate, the front joined. Empty: one objective.
std::string pareto_plot(const StudyResult& result);
// The first objective over two axes, the best over all others. Empty: fewer than two axes.
std::string heat_map(const StudyResult& result);
// The first objective as each axis alone changes, from the best candidate on. Empty: nothing does.
std::string tornado(const StudyResult& result);
// Where the time of the best candidates goes.
std::string time_bars(const StudyResult& result);

}  // namespace analysis
