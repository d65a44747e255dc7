// A measured run is simulated from the scenario that its row amounts to.
#include "sim/command/run_prediction.h"

#include "analysis/measures.h"
#include "sim/command/load.h"
#include "sim/training/simulate.h"

namespace sim::command {

namespace {

// What plans must share for their order to mean something.
std::string group_of(const scenario::MeasuredRow& row) {
  std::string group;
  for (const char* key : {"framework", "model", "params_b", "layers", "hidden", "ffn", "vocab",
                          "seq_len", "gbs", "precision", "gpu", "num_gpus"}) {
    group += row.text(key).value_or("") + "\t";
  }
  return group;
}

}  // namespace

Prediction predict(const scenario::MeasuredRow& row, const scenario::MeasuredFile& file,
                   const Common& common, bool shows_scenarios) {
  Prediction prediction;
  prediction.id = prediction.run.id = id_of(row);
  prediction.run.group = group_of(row);
  const auto time = row.number("iter_time_s");
  const auto derived = row.number("derived.iter_time_s");
  if (!time && !derived) {
    prediction.why_not = "the row has no measured iteration time";
    return prediction;
  }
  prediction.run.measured_s = time ? *time : *derived;
  const auto read = row_scenario(row, file, common, shows_scenarios, prediction);
  if (!read) return prediction;
  Diagnostics diagnostics;
  const std::optional<LoadedJob> loaded = load(*read, diagnostics);
  if (!loaded) {
    prediction.why_not = first_error(diagnostics);
    return prediction;
  }
  const auto outcome = training::simulate(loaded->job);
  if (const auto* result = std::get_if<training::Result>(&outcome)) {
    prediction.run.predicted_s = to_seconds(result->iteration_ps()).value();
    if (analysis::has_interval(*result)) {
      prediction.run.p10_s = result->interval.p10_s;
      prediction.run.p90_s = result->interval.p90_s;
    }
    prediction.fits = result->fits;
  } else {
    prediction.why_not = "the simulated job cannot proceed";
  }
  return prediction;
}

}  // namespace sim::command
