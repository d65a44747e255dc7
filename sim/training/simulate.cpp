// Job -> system -> events -> result.
#include "sim/training/simulate.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "sim/base/units.h"
#include "sim/fold/fold.h"
#include "sim/network/run.h"
#include "sim/training/hand_system.h"
#include "sim/training/never_binding.h"
#include "sim/training/outcome.h"

namespace sim::training {

namespace {

constexpr Picoseconds horizon_max = 9'000'000'000'000'000'000;  // 104 days

double cpu_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void fill_usage(Result& result) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  result.cpu_time_s = cpu_seconds(usage);
  result.peak_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024;
}

// How far it folded, in the last iteration.
void fill_fold(const JobSystem& system, const fold::Folded* folding, Result& result) {
  result.fold.tasks = system.system.tasks();
  result.fold.task_classes = result.fold.tasks;
  result.fold.rank_classes = result.fold.ranks;
  if (!folding) return;
  result.fold.task_classes = 0;
  for (const network::Stream& stream : folding->current().streams) {
    result.fold.task_classes += folding->current().steps_of(stream);
  }
  std::set<std::int32_t> classes;
  for (const Lane& lane : system.lanes) {
    classes.insert(folding->class_of_stream()[static_cast<std::size_t>(lane.compute)]);
  }
  result.fold.rank_classes = static_cast<std::int64_t>(classes.size());
}

// Sets `end` to when the last iteration ends.
std::variant<Result, Stuck, TooLarge> simulate_once(const Job& job, Picoseconds& end) {
  JobSystem system = job.operations.empty() ? job_system(job) : hand_system(job);
  if (system.too_large) return *system.too_large;
  const std::vector<ObservedLinks> links = link_classes(job, system, 20);
  for (const ObservedLinks& observed : links) system.system.observed.push_back(observed.resource);
  drop_never_binding(system.system, system.most_through);
  fold::Folded folding(system.system);
  auto outcome = network::run(system.system, {job.folds ? &folding : nullptr, job.skips});
  if (auto* stuck = std::get_if<Stuck>(&outcome)) return std::move(*stuck);
  std::vector<std::int32_t> class_of(system.system.streams.size());
  std::iota(class_of.begin(), class_of.end(), 0);
  if (job.folds) class_of = folding.class_of_stream();
  Result result;
  result.scenario = job.name;
  result.devices = job.cluster->device_count();
  const auto& ran = std::get<network::Outcome>(outcome);
  fill(system, links, class_of, ran, beyond_run(system, ran), result);
  fill_facts(job, system, result);
  fill_memory_over_time(job, system, ran, result);
  fill_fold(system, job.folds ? &folding : nullptr, result);
  fill_usage(result);
  end = ran.iteration_ends.back();
  return result;
}

}  // namespace

std::variant<Result, Stuck, TooLarge> simulate(const Job& job) {
  const bool is_endless =
      std::any_of(job.disturbances.begin(), job.disturbances.end(),
                  [](const Disturbance& d) { return training::is_endless(d.pattern); });
  Picoseconds end = 0;
  auto outcome = simulate_once(job, end);
  if (!is_endless) return outcome;
  // What comes after the horizon was left out.
  Job longer = job;
  while (end > longer.horizon && longer.horizon < horizon_max) {
    longer.horizon = std::min(2 * std::min(end, horizon_max / 2), horizon_max);
    outcome = simulate_once(longer, end);
  }
  return outcome;
}

namespace {

struct Variation {
  std::string text;
  Job job;
};

std::vector<Variation> variations(const Job& job) {
  std::vector<Variation> result;
  const auto add = [&](std::string text, auto change) {
    Variation variation{std::move(text), job};
    change(variation.job.plan);
    result.push_back(std::move(variation));
  };
  const plan::Plan& p = job.plan;
  if (p.recompute != dnn::Recompute::none) {
    add("plan.recompute: none", [](plan::Plan& q) { q.recompute = dnn::Recompute::none; });
  }
  if (p.recompute == dnn::Recompute::full) {
    add("plan.recompute: selective",
        [](plan::Plan& q) { q.recompute = dnn::Recompute::selective; });
  }
  add(fmt::format("training.micro_batch: {}", p.micro_batch * 2),
      [](plan::Plan& q) { q.micro_batch *= 2; });
  if (p.tensor > 1) {
    add(fmt::format("plan.tensor: {}", p.tensor / 2), [](plan::Plan& q) {
      q.tensor /= 2;
      q.data *= 2;
    });
  }
  if (p.data % 2 == 0) {
    add(fmt::format("plan.tensor: {}", p.tensor * 2), [](plan::Plan& q) {
      q.tensor *= 2;
      q.data /= 2;
    });
    add(fmt::format("plan.pipeline.stages: {}", p.stages * 2), [](plan::Plan& q) {
      q.stages *= 2;
      q.data /= 2;
      q.layers.clear();
    });
  }
  if (p.stages > 1 && p.stages % 2 == 0) {
    add(fmt::format("plan.pipeline.stages: {}", p.stages / 2), [](plan::Plan& q) {
      q.stages /= 2;
      q.data *= 2;
      q.layers.clear();
      if (q.stages == 1) {
        q.virtual_stages = 1;
        q.schedule = plan::ScheduleKind::one_f_one_b;
      }
    });
  }
  if (p.data > 1 && p.sharding == plan::Sharding::none) {
    add("plan.data.sharding: zero-1", [](plan::Plan& q) { q.sharding = plan::Sharding::zero1; });
  }
  return result;
}

}  // namespace

std::vector<std::string> advice(const Job& job, const Result& result) {
  constexpr std::int64_t tasks_max = 60'000, ranks_max = 4096;
  const auto* dnn = std::get_if<dnn::Transformer>(&job.dnn);
  if (!dnn || result.fold.task_classes > tasks_max || !job.plan.replicas.empty()) return {};
  std::vector<std::pair<Picoseconds, std::string>> found;
  for (Variation& v : variations(job)) {
    v.job.ranks_max = std::min(job.ranks_max, ranks_max);
    if (!plan::problems(v.job.plan, *dnn, job.plan.ranks()).empty()) continue;
    const auto outcome = simulate(v.job);
    const auto* other = std::get_if<Result>(&outcome);
    if (!other || !other->fits) continue;
    const double change =
        static_cast<double>(other->iteration_ps()) / static_cast<double>(result.iteration_ps()) - 1;
    constexpr double least_gain = 0.01;
    if (result.fits && change > -least_gain) continue;
    found.emplace_back(other->iteration_ps(),
                       fmt::format("{} -> {} per iteration ({:+.1f} %)", v.text,
                                   to_text(to_seconds(other->iteration_ps())), 100 * change));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> lines;
  for (const auto& [time, text] : found) {
    if (lines.size() < 3) lines.push_back(text);
  }
  return lines;
}

}  // namespace sim::training
