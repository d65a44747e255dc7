// --set path.to.key=value: values of the command line in the place of the file's.
#pragma once

#include "sim/base/diagnostics.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/tree.h"

namespace sim::scenario {

// Replaces or adds the value at the path; lists are entered by index. What is wrong is reported in
// the "file" that the option is: "--set plan.tensor=x".
void apply(const Override& change, Value& root, Diagnostics& diagnostics);

// The name of that "file".
std::string option_text(const Override& change);

}  // namespace sim::scenario
