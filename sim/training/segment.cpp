// Operators one after the other, collectives beside them where they overlap.
#include "sim/training/segment.h"

#include <algorithm>

namespace sim::training {

using plan::Pass;

namespace {

// How long it takes with nothing beside it; longer than its work on a slow device.
Picoseconds alone(const LaneInput& in, const Variant& variant, std::int64_t multiprocessors) {
  const auto at_capacity = [&](std::int64_t used, std::int64_t capacity) {
    if (used <= capacity) return variant.work;
    return static_cast<Picoseconds>((Int128{variant.work} * used + capacity - 1) / capacity);
  };
  return std::max(at_capacity(multiprocessors, in.capacity.multiprocessors),
                  at_capacity(variant.memory_rate, in.capacity.memory));
}

}  // namespace

int unit_count(const StageUnits& units, const Pass& pass) {
  return static_cast<int>(units[static_cast<std::size_t>(pass.virtual_stage)].size());
}

const std::vector<CostedOperator>& operators_of(const StageUnits& units, const Pass& pass,
                                                int position) {
  const auto& list = units[static_cast<std::size_t>(pass.virtual_stage)];
  const auto place = static_cast<std::size_t>(position);
  if (pass.kind == Pass::Kind::forward) return list[place].costs->forward;
  const UnitCosts& costs = *list[list.size() - 1 - place].costs;
  switch (pass.kind) {
    case Pass::Kind::backward_input:
      return costs.backward_input;
    case Pass::Kind::backward_weight:
      return costs.backward_weight;
    default:
      return costs.backward;
  }
}

Picoseconds overlapped(const LaneInput& in, Picoseconds communication, Picoseconds compute) {
  const double left = 1 - in.multiprocessors_of_collective;
  const Picoseconds done = to_picoseconds(to_seconds(communication) * left);
  return compute <= done ? communication : communication + (compute - done);
}

std::vector<Piece> pieces(const StageUnits& units, const Pass& pass) {
  std::vector<Piece> result;
  int beside = 0;  // operators that run beside a collective
  const auto append = [&](const CostedOperator& o, bool is_merged) {
    if (result.empty() || result.back().is_merged != is_merged) result.push_back({{}, is_merged});
    result.back().run.push_back(&o);
  };
  for (int u = 0; u < unit_count(units, pass); ++u) {
    for (const CostedOperator& o : operators_of(units, pass, u)) {
      if (o.collective && !is_of_lane(o)) {
        append(o, false);
        beside = std::max(beside, o.overlapped);
        continue;
      }
      append(o, beside == 0);
      beside = std::max(beside - 1, 0);
    }
  }
  return result;
}

int shared_collectives(const plan::Schedule& schedule, int stage, const StageUnits& units) {
  std::map<std::pair<Pass::Kind, int>, int> counts;  // by virtual stage
  int result = 0;
  for (const Pass& pass : schedule.passes[static_cast<std::size_t>(stage)]) {
    if (pass.kind == Pass::Kind::update) continue;
    const auto [entry, is_new] = counts.try_emplace({pass.kind, pass.virtual_stage}, 0);
    for (int u = 0; is_new && u < unit_count(units, pass); ++u) {
      for (const CostedOperator& o : operators_of(units, pass, u)) {
        if (o.collective && !is_of_lane(o)) ++entry->second;
      }
    }
    result += entry->second;
  }
  return result;
}

Segment measured_segment(const LaneInput& in, const OperatorRun& run, bool has_host,
                         const MicroBatchDraws& draws) {
  Segment s;
  Picoseconds beside = -1;
  const auto meet = [&] {  // all its ranks wait for each other
    if (in.jitter) in.jitter->meet();
  };
  const auto close = [&](Picoseconds compute, Category category) {
    const Picoseconds both = beside < 0 ? compute : overlapped(in, beside, compute);
    s.parts[static_cast<std::size_t>(category)] += compute;
    s.parts[static_cast<std::size_t>(Category::exposed_tensor)] += both - compute;
    if (beside == both) meet();
    beside = -1;
  };
  for (const CostedOperator* one : run) {
    const CostedOperator& o = *one;
    const Variant variant = o.in(draws);
    s.launch.duration += o.host;
    s.launch.kernels += o.kernels;
    if (s.first_launch < 0) s.first_launch = o.kernels > 0 ? o.host / o.kernels : 0;
    s.flops.push_back(variant.flops);
    s.family[static_cast<std::size_t>(o.family)] += variant.work;
    if (o.collective) {
      ++s.merged[{o.part, *o.collective, o.size.value()}];
      const TransferCost cost = in.tensor->of(o.part).group_cost(*o.collective, o.size).second;
      if (beside >= 0) close(0, Category::compute);
      if (o.overlapped > 0) {
        beside = cost.lag + cost.work;
      } else {
        meet();
        s.parts[static_cast<std::size_t>(Category::exposed_tensor)] += cost.lag + cost.work;
      }
      s.tail = 0;
      continue;
    }
    const bool is_beside = beside >= 0;
    const Picoseconds level = alone(in, variant, o.multiprocessors);
    const Picoseconds work = in.jitter ? in.jitter->next(level) : level;
    close(work, o.category);
    s.tail = is_beside ? 0 : work;
    s.tail_category = o.category;
  }
  if (beside >= 0) close(0, Category::compute);
  if (!has_host) s.tail = 0;
  s.parts[static_cast<std::size_t>(s.tail_category)] -= s.tail;
  return s;
}

}  // namespace sim::training
