// A result as a page of text for people.
#pragma once

#include <string>

#include "sim/training/result.h"

namespace analysis {

// Iteration time and rates, where the time goes, memory, busiest links, where the numbers come
// from, warnings, and what to change next. ASCII; every number with its unit.
std::string summary(const sim::training::Result& result);

}  // namespace analysis
