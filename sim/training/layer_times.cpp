// The costs of a rank, stretched as a slow device stretches them.
#include "sim/training/layer_times.h"

#include <algorithm>

#include "sim/base/invariant.h"
#include "sim/training/rank_times.h"

namespace sim::training {

namespace {

// An operator slows down as far as it needs more than there is.
void stretch(UnitCosts& unit, const Shares& shares, double memory_capacity) {
  for (auto pass : {&UnitCosts::forward, &UnitCosts::backward, &UnitCosts::backward_input,
                    &UnitCosts::backward_weight}) {
    for (CostedOperator& o : unit.*pass) {
      const double needed = static_cast<double>(o.multiprocessors) / multiprocessors_one;
      const double moved = static_cast<double>(o.memory_rate) / memory_capacity;
      const double longer = std::max({1.0, needed / shares.compute, moved / shares.memory});
      o.work = to_picoseconds(to_seconds(o.work) * longer);
    }
  }
}

}  // namespace

LayerTimes layer_times(const Job& job, const std::vector<int>& devices, const Shares& shares) {
  invariant(shares.compute > 0 && shares.memory > 0, "a device that does nothing has no times");
  const auto& profile = profile_of(job, devices.front());
  Job of_group = job;
  of_group.plan.tensor = static_cast<int>(devices.size());
  JobCosts costs = job_costs(of_group, profile, 0);
  const double capacity = memory_capacity(profile).value();
  for (UnitCosts& layer : costs.layer_kinds) stretch(layer, shares, capacity);
  for (UnitCosts* unit : {&costs.embedding, &costs.head, &costs.prediction}) {
    stretch(*unit, shares, capacity);
  }
  std::unique_ptr<Communicator> tensor;
  if (devices.size() > 1) tensor = communicator_of(of_group, devices);
  RankTimes::Communicators communicators = {};
  communicators[static_cast<std::size_t>(dnn::RankGroup::tensor)] = tensor.get();
  const RankTimes times(costs, communicators);
  const bool is_split = plan::splits_backward(job.plan);
  const auto both = [&](std::vector<const UnitCosts*> units) {
    const PassTimes passes = times.of_units(std::move(units));
    return to_seconds(passes.forward + (is_split ? passes.in_two : passes.backward));
  };
  std::vector<const UnitCosts*> layers;
  for (const std::size_t kind : costs.kind_of_layer) layers.push_back(&costs.layer_kinds[kind]);
  std::vector<const UnitCosts*> last(static_cast<std::size_t>(costs.prediction_modules),
                                     &costs.prediction);
  last.push_back(&costs.head);
  return {.layer = both(layers) / static_cast<double>(layers.size()),
          .first = both({&costs.embedding}),
          .last = both(std::move(last))};
}

}  // namespace sim::training
