// maquette validate --memory.
#include "sim/command/validate_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/json_writer.h"
#include "sim/plan/memory.h"

namespace sim::command {

namespace {

constexpr double gibibyte = 1024.0 * 1024 * 1024;

void predict(const scenario::Scenario& scenario, MemoryPrediction& prediction) {
  const auto* dnn = std::get_if<dnn::Transformer>(&scenario.dnn);
  if (dnn == nullptr) {
    prediction.why_not = "the dnn has times only";
    return;
  }
  double peak = 0, capacity = 1e30;
  for (const auto& stage : plan::memory_of_stages(scenario.plan, *dnn, scenario.stack)) {
    peak = std::max(peak, stage.peak().value());
  }
  for (const auto& [name, device] : scenario.device_types) {
    capacity = std::min(capacity, device.memory.value());
  }
  prediction.fits = peak <= capacity;
  prediction.predicted_b = peak - scenario.stack.reserve.value();
}

MemoryPrediction predict(const scenario::MeasuredRow& row, const scenario::MeasuredFile& file,
                         const Common& common, bool shows_scenarios) {
  MemoryPrediction prediction;
  prediction.id = id_of(row);
  const bool has_time = row.number("iter_time_s") || row.number("derived.iter_time_s");
  if (has_time) prediction.ran = true;
  if (row.text("status") == "OOM") prediction.ran = false;
  for (const char* key : {"mem_reserved_gb", "mem_gb"}) {
    const auto peak = row.number(key);
    if (peak && !prediction.measured_b) prediction.measured_b = *peak * gibibyte;
  }
  if (!prediction.ran && !prediction.measured_b) {
    prediction.why_not = "the row has neither a time, a peak of memory, nor the status OOM";
    return prediction;
  }
  const auto read = row_scenario(row, file, common, shows_scenarios, prediction);
  if (prediction.measured_b && !row.text("mem_unit")) {
    prediction.assumed.emplace_back("GB of a peak are GiB");
  }
  if (read) predict(*read, prediction);
  return prediction;
}

std::string outcome_of(const MemoryPrediction& p) {
  if (!p.ran) return "";
  if (*p.ran == p.fits) return p.fits ? "ran" : "out of memory, as predicted";
  return p.fits ? "MISSED: out of memory" : "FALSE ALARM: ran";
}

}  // namespace

std::vector<MemoryPrediction> memory_predictions(const scenario::MeasuredFile& file,
                                                 const Common& common, bool shows_scenarios) {
  std::vector<MemoryPrediction> result;
  for (const scenario::MeasuredRow& row : file.rows) {
    result.push_back(predict(row, file, common, shows_scenarios));
  }
  return result;
}

MemoryStatistics statistics(const std::vector<MemoryPrediction>& predictions) {
  MemoryStatistics s;
  for (const MemoryPrediction& p : predictions) {
    if (!p.why_not.empty()) continue;
    if (p.ran) {
      ++(*p.ran ? s.ran : s.failed);
      s.false_alarms += *p.ran && !p.fits;
      s.misses += !*p.ran && p.fits;
    }
    if (!p.measured_b) continue;
    ++s.measured;
    const double error = p.predicted_b / *p.measured_b - 1;
    s.mean_absolute += std::abs(error);
    s.bias += error;
  }
  s.mean_absolute /= std::max(s.measured, 1);
  s.bias /= std::max(s.measured, 1);
  return s;
}

void print_memory(const std::string& title, const std::vector<MemoryPrediction>& predictions,
                  bool is_brief) {
  fmt::print("{}\n", title);
  if (!is_brief)
    fmt::print("  {:34} {:>12} {:>12} {:>8}\n", "run", "measured", "predicted", "error");
  int skipped = 0;
  for (const MemoryPrediction& p : predictions) {
    skipped += !p.why_not.empty();
    if (is_brief) continue;
    if (!p.why_not.empty()) {
      fmt::print("  {:34} skipped: {}\n", p.id, p.why_not);
      continue;
    }
    fmt::print(
        "  {:34} {:>12} {:>8.2f} GiB {:>8}  {}\n", p.id,
        p.measured_b ? fmt::format("{:.2f} GiB", *p.measured_b / gibibyte) : "-",
        p.predicted_b / gibibyte,
        p.measured_b ? fmt::format("{:+.1f} %", 100 * (p.predicted_b / *p.measured_b - 1)) : "",
        outcome_of(p));
  }
  print_assumed(predictions);
  const MemoryStatistics s = statistics(predictions);
  fmt::print("  {} runs that ran and {} out of memory, {} skipped: {:.1f} % right", s.ran, s.failed,
             skipped, 100 * s.right());
  if (s.ran > 0) fmt::print(", false alarms {:.1f} %", 100.0 * s.false_alarms / s.ran);
  if (s.failed > 0) fmt::print(", misses {:.1f} %", 100.0 * s.misses / s.failed);
  fmt::print("\n");
  if (s.measured == 0) return;
  fmt::print("  {} peaks: mean absolute error {:.1f} %, bias {:+.1f} %\n", s.measured,
             100 * s.mean_absolute, 100 * s.bias);
}

void print_memory_json(const std::string& file, const std::vector<MemoryPrediction>& predictions) {
  const MemoryStatistics s = statistics(predictions);
  analysis::JsonWriter json;
  json.open_object().member("file", file).key("memory_rows").open_array();
  for (const MemoryPrediction& p : predictions) {
    const bool is_known = p.why_not.empty();
    json.open_object().member("id", p.id).member("ran", p.ran);
    json.member("fits", is_known ? std::optional(p.fits) : std::nullopt);
    json.member("measured_bytes", p.measured_b);
    json.member("predicted_bytes", is_known ? std::optional(p.predicted_b) : std::nullopt);
    json.member("why_not", p.why_not).member("assumed", p.assumed).close_object();
  }
  json.close_array().member("assumed", all_assumed(predictions));
  json.member("ran", s.ran).member("out_of_memory", s.failed);
  json.member("false_alarms", s.false_alarms).member("misses", s.misses);
  json.member("right", s.right()).member("peaks", s.measured);
  json.member("mean_absolute_percentage_error", 100 * s.mean_absolute);
  json.member("bias", 100 * s.bias).close_object();
  fmt::print("{}\n", json.take());
}

}  // namespace sim::command
