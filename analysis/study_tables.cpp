// A study for programs: JSON, CSV, HDF5.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/hdf5_image.h"
#include "analysis/json_writer.h"
#include "analysis/study_result.h"
#include "analysis/study_sensitivity.h"

namespace analysis {

using sim::scenario::Measure;
using sim::scenario::MeasureTraits;
using sim::training::Category;
using sim::training::category_count;

namespace {

std::string category(int index) { return std::string(name(static_cast<Category>(index))); }

// "tokens_per_dollar", as members of JSON and HDF5 datasets are named.
std::string member_name(const MeasureTraits& traits) {
  std::string text = traits.key;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

void add_candidate(JsonWriter& json, const StudyResult& result, std::size_t i) {
  const StudyRecord& record = result.records[i];
  const auto& candidate = result.candidates[i];
  json.new_line().open_object();
  json.member("candidate", i).member("verdict", name(record.verdict));
  json.key("set").open_object();
  for (const auto& override : candidate.overrides) json.member(override.path, override.value);
  json.close_object();
  json.member("why", record.why).member("hint", record.hint).member("plan", record.plan);
  for (const MeasureTraits& traits : sim::scenario::all_measures()) {
    if (traits.measure == Measure::iteration_time) continue;
    json.member(member_name(traits), record.value(traits.measure));
  }
  json.key("iteration_time_s").seconds(record.iteration_ps);
  json.key("interval").open_object();
  json.member("p10_s", record.interval.p10_s).member("p90_s", record.interval.p90_s).close_object();
  json.member("model_flops_utilization", record.model_flops_utilization);
  json.member("effective_training_time_error", record.effective_time_error);
  json.member("memory_capacity_bytes", record.memory_capacity);
  json.key("time_s").open_object();
  for (int c = 0; c < category_count; ++c) {
    json.key(category(c)).seconds(record.time[static_cast<std::size_t>(c)]);
  }
  json.close_object();
  json.key("plans").open_array();
  for (const FoundPlan& found : record.found) {
    json.open_object().member("plan", found.plan);
    json.key("iteration_time_s").seconds(found.iteration_ps).close_object();
  }
  json.close_array();
  json.member("plans_tried", record.plans).member("plans_fitting", record.plans_fitting);
  json.member("plans_simulated", record.plans_simulated);
  json.member("fingerprint", fmt::format("{:016x}", record.fingerprint));
  json.close_object();
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

void add_indices(JsonWriter& json, const char* name, const std::vector<std::size_t>& indices) {
  json.key(name).open_array();
  for (const std::size_t i : indices) json.value(i);
  json.close_array();
}

void add_comparison(JsonWriter& json, const StudyResult& result) {
  json.key("sensitivity").open_array();
  for (const Swing& swing : sensitivity(result)) {
    json.open_object().member("path", swing.path).member("low", swing.low);
    json.member("low_candidate", swing.low_candidate).member("high", swing.high);
    json.member("high_candidate", swing.high_candidate).close_object();
  }
  json.close_array().key("rivals").open_array();
  for (const Rival& rival : rivals(result, result.records.size())) {
    json.open_object().member("candidate", rival.candidate);
    json.member("probability_best_is_better", rival.probability);
    json.member("break_even_usd_per_hour", rival.break_even_usd_per_hour).close_object();
  }
  json.close_array();
}

}  // namespace

std::string study_json(const StudyResult& result) {
  JsonWriter json;
  json.open_object().member("study", result.study.name);
  json.member("base", result.study.base.generic_string());
  std::vector<std::string> objectives;
  for (const Measure one : result.study.objectives) {
    objectives.emplace_back(sim::scenario::traits(one).key);
  }
  json.member("objectives", objectives).member("filtered", result.filtered);
  add_indices(json, "ranking", ranking(result));
  add_indices(json, "pareto_front", pareto_front(result));
  add_comparison(json, result);
  json.member("assumed", notes(result));
  json.key("candidates").open_array();
  for (std::size_t i = 0; i < result.records.size(); ++i) add_candidate(json, result, i);
  json.close_array().close_object();
  return json.take();
}

std::string study_csv(const StudyResult& result) {
  const auto paths = axis_paths(result.study);
  std::string text = "candidate";
  for (const std::string& path : paths) text += "," + quoted(path);
  text += ",verdict";
  for (const MeasureTraits& traits : sim::scenario::all_measures()) {
    text += fmt::format(",{} [{}]", traits.name, traits.unit);
  }
  for (int c = 0; c < category_count; ++c) text += fmt::format(",time {} [s]", category(c));
  text += ",fingerprint,plan,why\n";
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    const StudyRecord& record = result.records[i];
    text += std::to_string(i);
    for (const std::string& path : paths)
      text += "," + quoted(shown_at(result.candidates[i], path));
    text += fmt::format(",{}", name(record.verdict));
    for (const MeasureTraits& traits : sim::scenario::all_measures()) {
      const auto value = record.value(traits.measure);
      text += value ? fmt::format(",{}", *value) : ",";
    }
    for (const std::int64_t part : record.time) text += "," + decimal(part, 12);
    text += fmt::format(",{:016x},{},{}\n", record.fingerprint, quoted(record.plan),
                        quoted(record.why));
  }
  return text;
}

std::string study_file(const StudyResult& result) {
  const auto& records = result.records;
  const auto texts = [&](auto value) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < records.size(); ++i) all.push_back(value(i));
    return all;
  };
  Hdf5Image image("maquette study 1");
  image.attribute("study", result.study.name);
  image.attribute("base", result.study.base.generic_string());
  image.attribute("filtered", result.filtered);
  image.enter("axes");
  const auto paths = axis_paths(result.study);
  image.dataset("path", paths);
  for (std::size_t p = 0; p < paths.size(); ++p) {
    image.dataset(std::to_string(p),
                  texts([&](std::size_t i) { return shown_at(result.candidates[i], paths[p]); }));
  }
  image.leave();
  image.enter("candidates");
  image.dataset("verdict", texts([&](std::size_t i) { return name(records[i].verdict); }));
  image.dataset("why", texts([&](std::size_t i) { return records[i].why; }));
  image.dataset("plan", texts([&](std::size_t i) { return records[i].plan; }));
  image.dataset("fingerprint", texts([&](std::size_t i) {
                  return fmt::format("{:016x}", records[i].fingerprint);
                }));
  for (const MeasureTraits& traits : sim::scenario::all_measures()) {
    std::vector<double> values;  // not a number: unknown
    for (const StudyRecord& record : records) {
      values.push_back(record.value(traits.measure).value_or(std::nan("")));
    }
    image.dataset(member_name(traits), traits.unit, values);
  }
  std::vector<std::int64_t> iterations;
  for (const StudyRecord& record : records) iterations.push_back(record.iteration_ps);
  image.dataset("iteration", "ps", iterations);
  for (int c = 0; c < category_count; ++c) {
    std::vector<std::int64_t> values;
    for (const StudyRecord& r : records) values.push_back(r.time[static_cast<std::size_t>(c)]);
    image.dataset("time " + category(c), "ps", values);
  }
  image.leave();
  image.dataset("assumed", notes(result));
  return image.bytes();
}

}  // namespace analysis
