// The predicted time of a measured run.
#pragma once

#include "analysis/validation.h"
#include "sim/command/row_scenario.h"

namespace sim::command {

struct Prediction : RowNotes {
  analysis::MeasuredRun run;
  bool fits = true;
};

Prediction predict(const scenario::MeasuredRow& row, const scenario::MeasuredFile& file,
                   const Common& common, bool shows_scenarios = false);

}  // namespace sim::command
