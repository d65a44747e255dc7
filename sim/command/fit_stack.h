// Constants of a software stack from runs that were measured with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/command/options.h"
#include "sim/scenario/measured.h"

namespace sim::command {

// A field of a stack with where the search starts: "host_per_layer=0.9 ms".
struct FittedConstant {
  std::string field;
  double value = 0;
  std::string unit;  // with a space before it, or empty
};
// Throws UsageError at what it cannot read.
std::vector<FittedConstant> fitted_constants(const std::string& text);

// Lowers score(constants) by changing one constant at a time by a factor, 1.5 at first, that gets
// smaller: in five rounds to 1.5^(1/16). A constant that does not matter keeps its value.
void descend(std::vector<FittedConstant>& constants,
             const std::function<double(const std::vector<FittedConstant>&)>& score);

// Prints the constants with which the mean absolute error of these rows is least that one finds
// from where the search starts, and the error with both. Returns an exit code.
int fit_stack(const scenario::MeasuredFile& file, const Common& common,
              const std::string& constants);

}  // namespace sim::command
