// The format of a study's axes.
#pragma once

#include "sim/scenario/section.h"
#include "sim/scenario/study.h"

namespace sim::scenario {

Kind<std::vector<Axis>> axes_kind();

// "8", "400 Gbit/s": the number and what follows it. Nothing where the text begins otherwise.
struct NumberText {
  double number = 0;
  std::string unit;
};
std::optional<NumberText> number_text(const std::string& text);

// What a document writes at "plan.tensor"; null where it writes nothing.
const Value* at_path(const Value& root, const std::string& path);

}  // namespace sim::scenario
