// The keys of `--json`.
#include "analysis/json.h"

#include <fmt/format.h>

#include "analysis/job_summary.h"
#include "analysis/json_writer.h"
#include "analysis/measures.h"
#include "calibrate/profile/names.h"

namespace analysis {

using sim::training::Category;
using sim::training::Result;

namespace {

std::int64_t time_of(Category category, const Result& result) {
  return result.time[static_cast<std::size_t>(category)];
}

void add_iterations(JsonWriter& json, const Result& result) {
  json.key("iterations_s").open_array();
  for (const std::int64_t iteration : result.iterations_ps) json.seconds(iteration);
  json.close_array();
  json.key("iteration_time_s").seconds(result.iteration_ps());
  json.key("iteration_percentiles").open_object();
  if (!result.iterations_ps.empty()) {
    json.key("p50_s").seconds(iteration_percentile(result, 0.50));
    json.key("p95_s").seconds(iteration_percentile(result, 0.95));
    json.key("p99_s").seconds(iteration_percentile(result, 0.99));
  }
  json.close_object();
  const auto& interval = result.interval;
  const auto known = [&](double number) {
    return has_interval(result) ? std::optional<double>(number) : std::nullopt;
  };
  json.key("interval").open_object();
  json.member("p10_s", known(interval.p10_s)).member("p90_s", known(interval.p90_s));
  json.member("model", known(interval.model)).member("software", known(interval.software));
  json.member("jitter", known(interval.jitter));
  json.close_object();
}

void add_rates(JsonWriter& json, const Result& result) {
  json.member("samples_per_second", samples_per_second(result));
  json.member("tokens_per_second_per_device", tokens_per_second_per_device(result));
  json.member("model_flops_utilization", utilization(result.model_flops_per_iteration, result));
  json.member("model_flops_utilization_causal",
              utilization(result.model_flops_causal_per_iteration, result));
  json.member("hardware_flops_utilization",
              utilization(result.hardware_flops_per_iteration, result));
}

void add_memory(JsonWriter& json, const Result& result) {
  json.member("fits", result.fits);
  const auto* fullest = fullest_stage(result);
  if (!fullest) {
    json.member("memory", std::optional<double>());
    return;
  }
  const sim::plan::MemoryBreakdown& memory = fullest->memory;
  json.key("memory").open_object();
  json.member("capacity_bytes", fullest->capacity_bytes);
  json.member("peak_bytes", memory.peak().value());
  json.member("worst_rank", fullest->lowest_rank);
  json.key("peak_at_s");
  if (fullest->peak_at_ps < 0) {
    json.value(std::optional<double>());
  } else {
    json.seconds(fullest->peak_at_ps);
  }
  json.member("weights", memory.weights.value()).member("gradients", memory.gradients.value());
  json.member("optimizer", memory.optimizer.value());
  json.member("activations", memory.activations.value()).member("other", memory.other.value());
  json.close_object();
}

void add_host_memory(JsonWriter& json, const Result& result) {
  if (!result.host_memory) {
    json.member("host_memory", std::optional<double>());
    return;
  }
  const sim::training::HostMemory& memory = *result.host_memory;
  json.key("host_memory").open_object();
  json.member("capacity_bytes", memory.capacity.value());
  json.member("used_bytes", memory.used.total().value());
  json.member("worst_host", memory.host).member("ranks", memory.ranks);
  json.member("optimizer", memory.used.optimizer.value());
  json.member("gradients", memory.used.gradients.value());
  json.member("parameters", memory.used.parameters.value());
  json.member("activations", memory.used.activations.value()).close_object();
}

void add_time(JsonWriter& json, const Result& result) {
  json.key("time").open_object();
  for (int c = 0; c < static_cast<int>(Category::exposed_tensor); ++c) {
    const auto category = static_cast<Category>(c);
    json.key(fmt::format("{}_s", name(category))).seconds(time_of(category, result));
  }
  json.key("exposed").open_object();
  for (int c = static_cast<int>(Category::exposed_tensor); c < sim::training::category_count; ++c) {
    const auto category = static_cast<Category>(c);
    const std::string_view full = name(category);
    json.key(full.substr(full.find('.') + 1)).seconds(time_of(category, result));
  }
  json.close_object().close_object();
}

void add_links(JsonWriter& json, const Result& result) {
  json.key("links").open_array();
  for (const auto& link : result.links) {
    json.open_object().member("example", link.example).member("count", link.count);
    json.member("utilization_mean", link.utilization_mean);
    json.member("utilization_max", link.utilization_max).close_object();
  }
  json.close_array();
}

void add_run(JsonWriter& json, const Result& result) {
  const auto& pipelining = result.pipelining;
  json.key("pipeline").open_object();
  json.member("flushes", pipelining.flushes).member("staleness", pipelining.staleness);
  json.member("weight_versions", pipelining.weight_versions).close_object();
  const auto& fold = result.fold;
  json.key("fold").open_object();
  json.member("ranks", fold.ranks).member("rank_classes", fold.rank_classes);
  json.member("tasks", fold.tasks).member("task_classes", fold.task_classes);
  json.member("exact", fold.exact).close_object();
  json.key("profile_origin").open_object();
  for (const auto& [device, origin] : result.profile_origin) {
    json.member(device, calibrate::profile::name(origin));
  }
  json.close_object();
  json.member("extrapolated", result.extrapolated).member("warnings", result.warnings);
  json.member("fingerprint", fmt::format("{:016x}", result.fingerprint));
  json.member("cpu_time_s", result.cpu_time_s).member("peak_rss_bytes", result.peak_rss_bytes);
}

void add_text(JsonWriter& json, const char* key, const std::string& text) {
  json.key(key);
  if (text.empty()) {
    json.value(std::optional<double>());
  } else {
    json.value(text);
  }
}

void add_count(JsonWriter& json, const char* key, int number) {
  json.member(key, number > 0 ? std::optional<int>(number) : std::nullopt);
}

}  // namespace

std::string to_json(const Result& result, const std::optional<sim::fault::Outlook>& outlook) {
  JsonWriter json;
  json.open_object().member("scenario", result.scenario).member("devices", result.devices);
  add_iterations(json, result);
  add_rates(json, result);
  add_memory(json, result);
  add_host_memory(json, result);
  add_time(json, result);
  add_links(json, result);
  if (outlook) add_job(json, *outlook);
  add_run(json, result);
  return json.close_object().take();
}

std::string errors_json(const sim::Diagnostics& diagnostics) {
  const auto shown = diagnostics.has_errors() ? sim::Severity::error : sim::Severity::warning;
  JsonWriter json;
  json.open_object().key("errors").open_array();
  for (const sim::Diagnostic& d : diagnostics.sorted()) {
    if (d.severity != shown) continue;
    json.open_object();
    add_text(json, "file", d.place.file);
    add_count(json, "line", d.place.line);
    add_count(json, "column", d.place.column);
    json.member("message", d.message);
    add_text(json, "why", d.why);
    add_text(json, "hint", d.hint);
    json.close_object();
  }
  return json.close_array().close_object().take();
}

}  // namespace analysis
