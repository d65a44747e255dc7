// Reading, running and judging a candidate.
#include "sim/command/candidate.h"

#include <fmt/format.h>

#include "analysis/cost.h"
#include "analysis/measures.h"
#include "calibrate/profile/names.h"
#include "sim/base/units.h"
#include "sim/command/job_time.h"
#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/fault/engine_rates.h"
#include "sim/training/search.h"
#include "sim/training/simulate.h"

namespace sim::command {

using analysis::StudyRecord;
using analysis::Verdict;
using scenario::Limit;
using scenario::Measure;

namespace {

// The first error, without its place: that is an override made of the axes.
void take_error(const Diagnostics& diagnostics, StudyRecord& record) {
  record.verdict = Verdict::wrong;
  for (const Diagnostic& d : diagnostics.sorted()) {
    if (d.severity != Severity::error) continue;
    record.why = d.message + (d.why.empty() ? "" : "; " + d.why);
    record.hint = d.hint;
    return;
  }
}

void take_result(const training::Result& result, StudyRecord& record) {
  record.verdict = result.fits ? Verdict::acceptable : Verdict::does_not_fit;
  record.iteration_ps = result.iteration_ps();
  record.interval = result.interval;
  record.devices = result.devices;
  if (result.tokens_per_iteration > 0 && result.iteration_ps() > 0) {
    record.tokens_per_second =
        result.tokens_per_iteration / to_seconds(result.iteration_ps()).value();
  }
  record.model_flops_utilization =
      analysis::utilization(result.model_flops_per_iteration, result).value_or(0);
  if (const auto* fullest = analysis::fullest_stage(result)) {
    record.memory_peak = fullest->memory.peak().value();
    record.memory_capacity = fullest->capacity_bytes;
  }
  record.time = result.time;
  record.fingerprint = result.fingerprint;
  for (const auto& [device, origin] : result.profile_origin) {
    record.notes.push_back(
        fmt::format("durations of {}: {}", device, calibrate::profile::name(origin)));
  }
  for (const std::string& one : result.extrapolated) {
    record.notes.push_back("beyond what was measured: " + one);
  }
  if (!result.fold.exact) record.notes.emplace_back("approximate: some ranks stand for others");
  if (!result.fits) {
    record.why =
        fmt::format("{} of memory needed on the fullest rank, {} there",
                    to_text(Bytes(record.memory_peak)), to_text(Bytes(record.memory_capacity)));
    if (!result.remedies.empty()) record.hint = result.remedies.front().change;
  }
}

std::string limit_text(const Limit& limit, double found) {
  const auto& traits = scenario::traits(limit.measure);
  const bool is_low = limit.least && found < *limit.least;
  return fmt::format("{} {:.6g} {} is {} than {:.6g} {}", traits.name, found, traits.unit,
                     is_low ? "less" : "more", is_low ? *limit.least : *limit.most, traits.unit);
}

}  // namespace

void Evaluator::judge(const scenario::Scenario& scenario, StudyRecord& record) const {
  const analysis::Cost cost = analysis::cost_of(scenario, study_.prices);
  for (const std::string& text : cost.assumed) record.notes.push_back(text);
  if (!cost.missing.empty()) {
    record.verdict = Verdict::wrong;
    record.why = cost.missing.front();
    record.hint = "add it to study.prices";
    return;
  }
  if (cost.is_power_known) record.power_watts = cost.power_watts;
  record.purchase_usd = cost.purchase_usd;
  record.usd_per_hour = cost.usd_per_hour;
  if (record.verdict != Verdict::acceptable) return;
  for (const Limit& limit : study_.constraints) {
    const auto found = record.value(limit.measure);
    // Nothing bought costs nothing; anything else that is unknown keeps no limit.
    const double value = found.value_or(0);
    const bool is_known = found || limit.measure == Measure::purchase;
    if (is_known && (!limit.least || value >= *limit.least) &&
        (!limit.most || value <= *limit.most)) {
      continue;
    }
    record.verdict = Verdict::over_limit;
    record.why = is_known ? limit_text(limit, value)
                          : fmt::format("{} is not known", scenario::traits(limit.measure).name);
    return;
  }
  for (const Measure objective : study_.objectives) {
    if (record.value(objective)) continue;
    record.verdict = Verdict::wrong;
    record.why = fmt::format("{} is not known", scenario::traits(objective).name);
    return;
  }
}

bool Evaluator::count_failures(const scenario::Scenario& scenario, const LoadedJob& loaded,
                               const training::Result& result, StudyRecord& record) const {
  if (record.verdict != Verdict::acceptable) return true;  // why, is known already
  record.verdict = Verdict::wrong;
  if (!scenario.job_time.is_asked()) {
    record.why = "the scenario has no failures and checkpoints to count";
    record.hint = "write failures, checkpoint and recovery, or leave out study.failures";
    return false;
  }
  try {
    const fault::Estimate estimate = job_estimate(scenario, loaded, result, {threads_, false});
    record.effective_time = estimate.ratio.mean;
    record.effective_time_error = estimate.ratio.half_width;
    record.tokens_per_second *= record.effective_time;
    if (!estimate.is_precise || estimate.unfinished > 0) {
      record.notes.emplace_back("some effective training times are less precise than asked for");
    }
  } catch (const fault::StateCannotRun& problem) {
    record.why = problem.what();
    record.hint = "write policy: restart";
    return false;
  }
  record.verdict = Verdict::acceptable;
  return true;
}

bool Evaluator::choose_plan(training::Job& job, StudyRecord& record) const {
  if (!std::holds_alternative<dnn::Transformer>(job.dnn) || !job.operations.empty()) {
    record.why = "plans are searched for a dnn with shapes only";
    return false;
  }
  if (!job.plan.replicas.empty()) {
    record.why = "plans are searched for replicas that are all cut alike";
    record.hint = "leave plan.replicas out of the base";
    return false;
  }
  const auto found = training::search(job, *study_.search, threads_);
  record.plans = found.plans;
  record.plans_fitting = found.fitting;
  record.plans_simulated = found.simulated;
  for (const training::RankedPlan& one : found.best) {
    record.found.push_back({training::overrides_text(one.plan), one.iteration_ps});
  }
  if (found.too_large > 0) {
    record.notes.push_back("plans that would be run rank by rank are not ranked");
  }
  if (found.best.empty()) {
    record.verdict = found.plans == 0 ? Verdict::wrong : Verdict::does_not_fit;
    record.why = found.plans == 0 ? "no plan of the search is possible"
                                  : "no plan of the search fits into the memory";
    return false;
  }
  job.plan = found.best.front().plan;
  record.plan = record.found.front().plan;
  return true;
}

StudyRecord Evaluator::evaluate(std::int64_t index, const scenario::Candidate& candidate) const {
  StudyRecord record;
  record.candidate = index;
  std::vector<scenario::Override> overrides = always_;
  overrides.insert(overrides.end(), candidate.overrides.begin(), candidate.overrides.end());
  Diagnostics diagnostics;
  const auto read = scenario::read_scenario(study_.base, overrides, catalog(), diagnostics);
  std::optional<LoadedJob> loaded;
  if (read) loaded = load(*read, diagnostics);
  if (!loaded) {
    take_error(diagnostics, record);
    return record;
  }
  if (study_.search && !choose_plan(loaded->job, record)) return record;
  const auto outcome = training::simulate(loaded->job);
  if (const auto* stuck = std::get_if<training::Stuck>(&outcome)) {
    record.verdict = Verdict::stuck;
    record.why = stuck->cycle;
    return record;
  }
  if (const auto* large = std::get_if<training::TooLarge>(&outcome)) {
    record.verdict = Verdict::too_large;
    record.why = fmt::format("{} ranks would be simulated one by one; {} is the most", large->ranks,
                             large->most);
    return record;
  }
  const auto& result = std::get<training::Result>(outcome);
  take_result(result, record);
  if (study_.counts_failures && !count_failures(*read, *loaded, result, record)) return record;
  judge(*read, record);
  return record;
}

}  // namespace sim::command
