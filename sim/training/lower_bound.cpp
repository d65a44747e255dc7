// Computation alone, in whole picoseconds, on the fastest of the cluster's devices.
#include <algorithm>

#include "sim/plan/schedule.h"
#include "sim/training/costs.h"
#include "sim/training/search.h"

namespace sim::training {

namespace {

struct PassWork {
  Picoseconds forward = 0, backward = 0, in_two = 0;  // in_two: backward where it comes in two
};

Picoseconds sum(const std::vector<CostedOperator>& operators) {
  Picoseconds total = 0;
  for (const CostedOperator& o : operators) total += o.work;
  return total;
}

PassWork work_of(const UnitCosts& unit) {
  return {sum(unit.forward), sum(unit.backward),
          sum(unit.backward_input) + sum(unit.backward_weight)};
}

void take_less(PassWork& work, const PassWork& other) {
  work.forward = std::min(work.forward, other.forward);
  work.backward = std::min(work.backward, other.backward);
  work.in_two = std::min(work.in_two, other.in_two);
}

void add(PassWork& work, const PassWork& other) {
  work.forward += other.forward;
  work.backward += other.backward;
  work.in_two += other.in_two;
}

// Plans whose operators are the same.
bool are_alike(const plan::Plan& a, const plan::Plan& b) {
  return a.tensor == b.tensor && a.context == b.context && a.micro_batch == b.micro_batch &&
         a.recompute == b.recompute && (a.stages == 1) == (b.stages == 1);
}

}  // namespace

struct LowerBound::Works {
  std::vector<PassWork> layers;  // [layer]
  PassWork embedding, head;      // head: with the modules of multi-token prediction
};

LowerBound::LowerBound(const Job& job) : job_(job) {}
LowerBound::~LowerBound() = default;

const LowerBound::Works& LowerBound::works_of(const plan::Plan& plan) {
  for (const auto& [other, works] : known_) {
    if (are_alike(plan, other)) return *works;
  }
  Job job = job_;
  job.plan = plan;
  auto works = std::make_unique<Works>();
  bool is_first = true;
  for (const auto& [type, profile] : job.profiles) {
    const JobCosts costs = job_costs(job, *profile, 0);
    Works one;
    for (const std::size_t kind : costs.kind_of_layer) {
      one.layers.push_back(work_of(costs.layer_kinds[kind]));
    }
    one.embedding = work_of(costs.embedding);
    one.head = work_of(costs.head);
    for (int m = 0; m < costs.prediction_modules; ++m) add(one.head, work_of(costs.prediction));
    if (is_first) {
      *works = std::move(one);
    } else {
      for (std::size_t l = 0; l < one.layers.size(); ++l) {
        take_less(works->layers[l], one.layers[l]);
      }
      take_less(works->embedding, one.embedding);
      take_less(works->head, one.head);
    }
    is_first = false;
  }
  return *known_.emplace_back(plan, std::move(works)).second;
}

std::int64_t LowerBound::of(const plan::Plan& plan) {
  const bool is_varied = job_.jitter.is_on() || !job_.disturbances.empty() || plan.packing;
  if (is_varied || !plan::flushes(plan)) return 0;
  const Works& works = works_of(plan);
  const auto sizes = plan::layers_per_virtual_stage(plan, static_cast<int>(works.layers.size()));
  std::vector<PassWork> parts(sizes.size());  // in model order
  std::size_t layer = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (int l = 0; l < sizes[part]; ++l) add(parts[part], works.layers[layer++]);
  }
  add(parts.front(), works.embedding);
  add(parts.back(), works.head);
  const auto stages = static_cast<std::size_t>(plan.stages);
  const bool is_loop = plan.schedule == plan::ScheduleKind::gpipe ||
                       plan.schedule == plan::ScheduleKind::one_f_one_b ||
                       plan.schedule == plan::ScheduleKind::interleaved;
  Picoseconds most = 0, before = 0;
  if (!is_loop) {
    // Where the parts are differs; the stages together do all of them.
    const bool is_split = plan::splits_backward(plan);
    for (const PassWork& part : parts) {
      most += part.forward + (is_split ? part.in_two : part.backward);
    }
    return most * plan.micro_batches() / plan.stages;
  }
  for (std::size_t s = 0; s < stages; ++s) {
    Picoseconds own = 0;
    for (std::size_t part = s; part < parts.size(); part += stages) {
      own += parts[part].forward + parts[part].backward;
    }
    most = std::max(most, before + own * plan.micro_batches());
    before += parts[s].forward + parts[s].backward;
  }
  return most;
}

}  // namespace sim::training
