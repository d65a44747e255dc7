// Enumerate, size the memory, bound, simulate in order of the bounds until none can be better.
#include "sim/training/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/parallel.h"
#include "sim/plan/memory.h"
#include "sim/plan/schedule.h"
#include "sim/training/lower_bound.h"
#include "sim/training/simulate.h"

namespace sim::training {

namespace {

// Simulated at once, whatever the threads: what is simulated does not depend on them.
constexpr std::size_t batch = 4;

std::vector<int> powers_of_two(std::int64_t most) {
  std::vector<int> result;
  for (int n = 1; n <= most; n *= 2) result.push_back(n);
  return result;
}

template <class T>
std::vector<T> or_else(const std::vector<T>& given, std::vector<T> otherwise) {
  return given.empty() ? otherwise : given;
}

class Space {
 public:
  Space(const Job& job, const PlanSpace& space)
      : job_(job), space_(space), dnn_(std::get<dnn::Transformer>(job.dnn)) {}

  std::vector<plan::Plan> plans() {
    constexpr int tensor_max = 64;
    const int devices = job_.plan.ranks();
    for (const int tensor : or_else(space_.tensor, powers_of_two(std::min(devices, tensor_max)))) {
      for (const int context : or_else(space_.context, {job_.plan.context})) {
        const std::int64_t group = std::int64_t{tensor} * context;
        if (devices % group != 0) continue;
        plan_ = job_.plan;
        plan_.layers.clear();
        plan_.tensor = tensor;
        plan_.context = context;
        for (const int stages : stages_of(static_cast<int>(devices / group))) {
          plan_.stages = stages;
          plan_.data = static_cast<int>(devices / (group * stages));
          over_schedules();
        }
      }
    }
    return std::move(plans_);
  }

 private:
  std::vector<int> stages_of(int most) const {
    std::vector<int> divisors;
    const auto tried = or_else(space_.stages, [&] {
      std::vector<int> all(static_cast<std::size_t>(std::min(most, dnn_.layers)));
      std::iota(all.begin(), all.end(), 1);
      return all;
    }());
    for (const int stages : tried) {
      if (most % stages == 0) divisors.push_back(stages);
    }
    return divisors;
  }
  std::vector<int> virtual_stages_of(plan::ScheduleKind kind) const {
    const int fixed = plan::traits(kind).virtual_stages;
    if (kind != plan::ScheduleKind::interleaved) return {std::max(fixed, 1)};
    if (!space_.virtual_stages.empty()) return space_.virtual_stages;
    std::vector<int> result;
    for (int v = 2; v * plan_.stages <= dnn_.layers; ++v) {
      if (dnn_.layers % (v * plan_.stages) == 0) result.push_back(v);
    }
    return result;
  }
  void over_schedules() {
    using plan::ScheduleKind;
    for (const ScheduleKind kind :
         or_else(space_.schedules, {ScheduleKind::one_f_one_b, ScheduleKind::interleaved})) {
      // With one stage all orders are the same.
      if (plan_.stages == 1 && kind != ScheduleKind::one_f_one_b) continue;
      plan_.schedule = kind;
      for (const int count : virtual_stages_of(kind)) {
        plan_.virtual_stages = count;
        over_batches();
      }
    }
  }
  void over_batches() {
    const std::int64_t most = job_.plan.global_batch / plan_.data;
    for (const int micro_batch : or_else(space_.micro_batch, powers_of_two(most))) {
      plan_.micro_batch = micro_batch;
      using dnn::Recompute;
      for (const Recompute recompute :
           or_else(space_.recompute, {Recompute::none, Recompute::selective, Recompute::full})) {
        plan_.recompute = recompute;
        for (const plan::Sharding sharding : or_else(space_.sharding, {job_.plan.sharding})) {
          plan_.sharding = sharding;
          if (plan::problems(plan_, dnn_, job_.plan.ranks()).empty()) plans_.push_back(plan_);
        }
      }
    }
  }

  const Job& job_;
  const PlanSpace& space_;
  const dnn::Transformer& dnn_;
  plan::Plan plan_;
  std::vector<plan::Plan> plans_;
};

// On the device with most memory: what does not fit there fits nowhere.
bool may_fit(const Job& job, const plan::Plan& plan, Bytes capacity) {
  const auto stages = plan::memory_of_stages(plan, std::get<dnn::Transformer>(job.dnn), job.stack);
  return std::all_of(stages.begin(), stages.end(),
                     [&](const auto& memory) { return memory.peak() <= capacity; });
}

struct Open {
  std::size_t index = 0;  // in the space
  std::int64_t bound = 0;
  std::int64_t iteration_ps = -1;  // not simulated, or it does not fit
  bool is_too_large = false;
};

void simulate_one(const Job& base, const plan::Plan& plan, Open& open) {
  Job job = base;
  job.plan = plan;
  const auto outcome = simulate(job);
  open.is_too_large = std::holds_alternative<TooLarge>(outcome);
  const auto* result = std::get_if<Result>(&outcome);
  if (result && result->fits) open.iteration_ps = result->iteration_ps();
}

const char* name_of(dnn::Recompute recompute) {
  constexpr const char* names[] = {"none", "selective", "alternate", "full"};
  return names[static_cast<std::size_t>(recompute)];
}

const char* name_of(plan::Sharding sharding) {
  constexpr const char* names[] = {"none", "zero-1", "zero-2", "zero-3"};
  return names[static_cast<std::size_t>(sharding)];
}

}  // namespace

std::vector<plan::Plan> plans_of(const Job& job, const PlanSpace& space) {
  return Space(job, space).plans();
}

SearchResult search(const Job& job, const PlanSpace& space, int threads) {
  const std::vector<plan::Plan> plans = plans_of(job, space);
  SearchResult result;
  result.plans = static_cast<std::int64_t>(plans.size());
  Bytes capacity;
  for (const auto& [type, profile] : job.profiles) {
    capacity = std::max(capacity, profile->device().memory);
  }
  LowerBound bound(job);
  std::vector<Open> open;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (may_fit(job, plans[i], capacity)) open.push_back({i, bound.of(plans[i])});
  }
  result.fitting = static_cast<std::int64_t>(open.size());
  std::stable_sort(open.begin(), open.end(),
                   [](const Open& a, const Open& b) { return a.bound < b.bound; });
  std::vector<std::pair<std::int64_t, std::size_t>> best;  // time, index in the space
  const auto top = static_cast<std::size_t>(space.top);
  for (std::size_t begin = 0; begin < open.size(); begin += batch) {
    if (best.size() == top && open[begin].bound > best.back().first) break;
    const std::size_t count = std::min(batch, open.size() - begin);
    parallel_for(count, threads, [&](std::size_t n) {
      Open& one = open[begin + n];
      simulate_one(job, plans[one.index], one);
    });
    for (std::size_t n = begin; n < begin + count; ++n) {
      result.too_large += open[n].is_too_large ? 1 : 0;
      if (open[n].iteration_ps >= 0) best.emplace_back(open[n].iteration_ps, open[n].index);
    }
    result.simulated += static_cast<std::int64_t>(count);
    std::sort(best.begin(), best.end());
    best.resize(std::min(best.size(), top));
  }
  for (const auto& [time, index] : best) result.best.push_back({plans[index], time});
  return result;
}

std::string overrides_text(const plan::Plan& plan) {
  std::string text = fmt::format("plan.tensor={}", plan.tensor);
  if (plan.context > 1) text += fmt::format(" plan.context={}", plan.context);
  text += fmt::format(" plan.pipeline.stages={} plan.pipeline.schedule={}", plan.stages,
                      plan::traits(plan.schedule).name);
  if (plan.virtual_stages > 1) {
    text += fmt::format(" plan.pipeline.virtual_stages={}", plan.virtual_stages);
  }
  return text + fmt::format(" plan.data.sharding={} plan.recompute={} training.micro_batch={}",
                            name_of(plan.sharding), name_of(plan.recompute), plan.micro_batch);
}

}  // namespace sim::training
