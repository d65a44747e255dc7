// A run, or two side by side, as a page that needs neither script nor network.
#pragma once

#include <string>
#include <vector>

#include "sim/training/result.h"

namespace analysis {

// REQUIRES: one result or two, each with an iteration.
std::string run_html(const std::vector<const sim::training::Result*>& results);

}  // namespace analysis
