// The sections of the page, from the answer down to its details.
#include "analysis/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/lines.h"
#include "analysis/measures.h"
#include "calibrate/profile/names.h"
#include "sim/base/fixed.h"
#include "sim/base/units.h"

namespace analysis {

using sim::Bytes;
using sim::BytesPerSecond;
using sim::FlopsPerSecond;
using sim::Seconds;
using sim::training::Category;
using sim::training::Result;
using sim::training::StageMemory;

namespace {

constexpr std::size_t links_shown = 5, texts_shown = 5, operations_shown = 20, iterations_shown = 6;
constexpr std::size_t percentiles_from = 5;  // iterations; of fewer they say little

bool is_ideal(const Result& result) {
  return std::all_of(
      result.profile_origin.begin(), result.profile_origin.end(),
      [](const auto& entry) { return entry.second == calibrate::profile::Origin::ideal; });
}

std::string iteration_time(const Result& result) {
  std::string time = to_text(sim::to_seconds(result.iteration_ps()));
  const auto& interval = result.interval;
  if (has_interval(result) && interval.p10_s < interval.p90_s) {
    time += fmt::format(", 80 % between {} and {}", to_text(Seconds(interval.p10_s)),
                        to_text(Seconds(interval.p90_s)));
    return line("iteration time", time) +
           line("", fmt::format("one sigma: timing models {}, software {}, repeats {}",
                                percent(interval.model), percent(interval.software),
                                percent(interval.jitter)));
  }
  if (!is_ideal(result)) {
    time += ", without an interval";
  } else {
    time += result.fold.exact ? ", exact: every duration is given, none is measured"
                              : ", approximate: the slowest replica is extrapolated";
  }
  return line("iteration time", time);
}

// Only where they differ, as when a part slows down or recovers between them.
std::string all_iterations(const Result& result) {
  const auto& times = result.iterations_ps;
  if (std::all_of(times.begin(), times.end(), [&](auto time) { return time == times.front(); })) {
    return "";
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(times.size(), iterations_shown); ++i) {
    text += (i > 0 ? ", " : "") + to_text(sim::to_seconds(times[i]));
  }
  if (times.size() > iterations_shown) text += ", ...";
  text = line("all iterations", text + "; the last one counts");
  if (times.size() < percentiles_from) return text;
  const auto percentile = [&](double share) {
    return to_text(sim::to_seconds(iteration_percentile(result, share)));
  };
  return text +
         line("percentiles", fmt::format("p50 {}, p95 {}, p99 {} of {} iterations", percentile(0.5),
                                         percentile(0.95), percentile(0.99), times.size()));
}

// A steady iteration is the time between two, and hides that a stage's own begins before the one
// before has ended on others.
std::string pipelining(const Result& result) {
  const auto& p = result.pipelining;
  if (p.flushes) return "";
  const std::string age = p.staleness == 0 ? "gradients of the newest weights"
                                           : fmt::format("gradients {} old, {} of the weights",
                                                         counted(p.staleness, "step"),
                                                         counted(p.weight_versions, "version"));
  return line("", fmt::format("no flush: from one iteration's end to the next; {}", age));
}

std::string speed(const Result& result) {
  std::string text = iteration_time(result) + pipelining(result) + all_iterations(result);
  if (!result.fits) text += line("", "as if the memory sufficed: THIS PLAN DOES NOT FIT");
  const auto tokens = tokens_per_second_per_device(result);
  const auto samples = samples_per_second(result);
  std::string throughput = counted(result.devices, "device");
  if (samples) throughput = fmt::format("{} samples/s, {}", four_digits(*samples), throughput);
  if (tokens) throughput = fmt::format("{} tokens/s/device, {}", four_digits(*tokens), throughput);
  if (samples) text += line("throughput", throughput);
  const auto model = utilization(result.model_flops_per_iteration, result);
  const auto causal = utilization(result.model_flops_causal_per_iteration, result);
  const auto hardware = utilization(result.hardware_flops_per_iteration, result);
  if (model && causal && hardware) {
    text += line("model FLOPs",
                 fmt::format("{} of the dense peak, {}; causal {}; executed {}", percent(*model),
                             to_text(FlopsPerSecond(result.peak_flops_per_second)),
                             percent(*causal), percent(*hardware)));
  }
  return text;
}

std::string time_row(std::string_view name, std::int64_t picoseconds, const Result& result) {
  const double whole = static_cast<double>(std::max<std::int64_t>(result.iteration_ps(), 1));
  return fmt::format("  {:<21}{:>12}{:>10}\n", name,
                     in_unit(picoseconds, time_unit(result.iteration_ps())),
                     percent(static_cast<double>(picoseconds) / whole));
}

std::string where_the_time_goes(const Result& result) {
  std::string text = fmt::format(
      "\n{:<23}{:>12}{:>10}   of rank {}, the last to finish\n", "where the time goes",
      fmt::format("[{}]", time_unit(result.iteration_ps()).name), "share", result.time_rank);
  for (int c = 0; c < sim::training::category_count; ++c) {
    const std::int64_t part = result.time[static_cast<std::size_t>(c)];
    if (part != 0) text += time_row(name(static_cast<Category>(c)), part, result);
  }
  return text + time_row("together", result.iteration_ps(), result);
}

// What a job written as single operations did, in order of start.
std::string operations(const Result& result) {
  std::vector<std::pair<const sim::training::Span*, std::string>> spans;
  for (const auto& track : result.tracks) {
    for (const auto& span : track.spans) spans.emplace_back(&span, track.stream);
  }
  std::stable_sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
    return a.first->start_ps < b.first->start_ps;
  });
  const TimeUnit unit = time_unit(result.iteration_ps());
  std::string text =
      fmt::format("\n{:<23}{:>12}{:>14}\n", "operation", fmt::format("start [{}]", unit.name),
                  fmt::format("end [{}]", unit.name));
  for (std::size_t i = 0; i < std::min(spans.size(), operations_shown); ++i) {
    const auto& [span, stream] = spans[i];
    text += fmt::format("  {:<21}{:>12}{:>14}\n", stream, in_unit(span->start_ps, unit),
                        in_unit(span->end_ps, unit));
  }
  if (spans.size() > operations_shown) {
    text += fmt::format("  and {} more in trace.json.gz\n", spans.size() - operations_shown);
  }
  return text;
}

bool fits_devices(const Result& result) {
  return std::all_of(result.memory.begin(), result.memory.end(), [](const StageMemory& stage) {
    return stage.memory.peak().value() <= stage.capacity_bytes;
  });
}

std::string host_memory(const sim::training::HostMemory& memory) {
  const sim::plan::HostBytes& used = memory.used;
  return fmt::format(
      "{:<23}{} of {} ({}) on {}, {} ranks\n  optimizer {}, gradients {}, parameters {}, "
      "activations {}\n",
      "host memory, fullest", to_text(used.total()), to_text(memory.capacity),
      percent(used.total() / memory.capacity), memory.host, memory.ranks, to_text(used.optimizer),
      to_text(used.gradients), to_text(used.parameters), to_text(used.activations));
}

std::string excess(const Result& result) {
  if (fits_devices(result)) {
    return "  DOES NOT FIT: the host's memory is too small for what is offloaded\n";
  }
  std::string stages;
  for (const StageMemory& stage : result.memory) {
    if (stage.memory.peak().value() <= stage.capacity_bytes) continue;
    stages += (stages.empty() ? "" : ", ") + stage_name(result, stage.stage, stage.replica);
  }
  const StageMemory& fullest = *fullest_stage(result);
  std::string text =
      fmt::format("  DOES NOT FIT: {} too much on rank {}; over capacity: {}\n",
                  to_text(Bytes(fullest.memory.peak().value() - fullest.capacity_bytes)),
                  fullest.lowest_rank, stages);
  text += "  what would make it fit, one change at a time\n";
  for (const auto& remedy : result.remedies) {
    text += fmt::format("    {:<36} peak {}\n", remedy.change, to_text(remedy.peak));
  }
  if (result.remedies.empty())
    text += "    no single change; combine several or use more devices\n";
  return text;
}

std::string memory(const Result& result) {
  const StageMemory* fullest = fullest_stage(result);
  if (!fullest) return "";
  const auto& parts = fullest->memory;
  std::string text =
      fmt::format("\n{:<23}{} of {} ({}) on rank {}, {}, {}\n", "memory, fullest rank",
                  to_text(parts.peak()), to_text(Bytes(fullest->capacity_bytes)),
                  percent(parts.peak().value() / fullest->capacity_bytes), fullest->lowest_rank,
                  stage_name(result, fullest->stage, fullest->replica), fullest->device_type);
  text += fmt::format("  weights {}, gradients {}, optimizer {}, activations {}, other {}\n",
                      to_text(parts.weights), to_text(parts.gradients), to_text(parts.optimizer),
                      to_text(parts.activations), to_text(parts.other));
  if (result.host_memory) text += host_memory(*result.host_memory);
  text += result.fits ? "  fits\n" : excess(result);
  return text;
}

std::string links(const Result& result) {
  if (result.links.empty()) return "";
  std::string text = fmt::format("\n{:<23}{:>12}{:>10}{:>10}{:>10}\n", "busiest links", "capacity",
                                 "mean use", "peak use", "alike");
  for (std::size_t i = 0; i < std::min(result.links.size(), links_shown); ++i) {
    const auto& link = result.links[i];
    text += fmt::format("  {:<21}{:>12}{:>10}{:>10}{:>10}\n", link.example,
                        to_text(BytesPerSecond(link.capacity)), percent(link.utilization_mean),
                        percent(link.utilization_max), link.count);
  }
  return text;
}

std::string listed(const char* label, const std::vector<std::string>& texts) {
  std::string text;
  for (std::size_t i = 0; i < std::min(texts.size(), texts_shown); ++i) {
    text += line(i == 0 ? label : "", texts[i]);
  }
  if (texts.size() > texts_shown) {
    text += line("", fmt::format("and {} more with --json", texts.size() - texts_shown));
  }
  return text;
}

std::string origins(const Result& result) {
  std::string text = "\n";
  const auto& fold = result.fold;
  std::string run = fold.ranks > 0 ? fmt::format("{} in {}, ", counted(fold.ranks, "rank"),
                                                 counted(fold.rank_classes, "kind"))
                                   : "";
  run += fold.tasks == fold.task_classes
             ? fmt::format("{}, ", counted(fold.tasks, "task"))
             : fmt::format("{} as {}, ", counted(fold.tasks, "task"), fold.task_classes);
  run += fold.exact ? "exact" : "approximate";
  text += line("simulated", fmt::format("{}; fingerprint {:016x}", run, result.fingerprint));
  const char* label = "durations from";
  for (const auto& [device, origin] : result.profile_origin) {
    text += line(label, fmt::format("{}: {}", device, calibrate::profile::name(origin)));
    label = "";
  }
  text += listed("extrapolated", result.extrapolated);
  return text + listed("warning", result.warnings);
}

std::string next(const Result& result) {
  if (result.advice.empty()) return "";
  std::string text = "\nwhat to change next\n";
  for (const std::string& advice : result.advice) text += "  " + advice + "\n";
  return text;
}

}  // namespace

std::string summary(const Result& result) {
  std::string text = result.scenario + "\n\n" + speed(result);
  text += result.fold.ranks > 0 ? where_the_time_goes(result) : operations(result);
  return text + memory(result) + links(result) + origins(result) + next(result);
}

}  // namespace analysis
