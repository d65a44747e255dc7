// Copies in the order in which the stage's passes issue them.
#include "sim/training/offload_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/training/data_plan.h"

namespace sim::training {

using collective::Operation;
using plan::Pass;

namespace {

class Planner {
 public:
  Planner(const Job& job, const plan::Schedule& schedule, int stage,
          const std::vector<std::vector<Unit>>& units, const StageDataPlan& data)
      : job_(job),
        offload_(job.plan.offload),
        passes_(schedule.passes[static_cast<std::size_t>(stage)]),
        units_(units),
        data_(data) {}

  OffloadPlan run();

 private:
  using Place = std::pair<int, int>;  // pass, unit in the order it runs them

  void issue(Place place, OffloadPlan::Out copy) {
    issued_at_.push_back(place);
    result_.concurrent_from = std::min(result_.concurrent_from, place.first);
    result_.out.push_back(copy);
  }
  const std::vector<Unit>& units_of(const Pass& pass) const {
    return units_[static_cast<std::size_t>(pass.virtual_stage)];
  }
  // Whether a unit of these is among the layers that are offloaded.
  std::vector<bool> offloaded(const std::vector<Unit>& units) const;
  std::map<int, int> last_gradient_passes() const;
  void activations();
  void forward(int index);
  void backward(int index);
  bool copy_reduced(Sharers sharers);
  void copy_gradients(Sharers sharers);
  void step();
  void sort();

  const Job& job_;
  const plan::Offload& offload_;
  const std::vector<Pass>& passes_;
  const std::vector<std::vector<Unit>>& units_;
  const StageDataPlan& data_;
  std::vector<Place> issued_at_;                      // [out]
  std::vector<int> sent_;                             // in `out`, of activations, in order
  std::vector<int> freed_;                            // events of backward units, in order
  std::map<std::tuple<int, int, int>, int> sent_of_;  // micro-batch, virtual stage, unit
  OffloadPlan result_;
};

std::vector<bool> Planner::offloaded(const std::vector<Unit>& units) const {
  const auto is_layer = [](const Unit& unit) { return unit.costs->activations > 0; };
  int left =
      offload_.layers_of(static_cast<int>(std::count_if(units.begin(), units.end(), is_layer)));
  std::vector<bool> result;
  for (const Unit& unit : units) result.push_back(is_layer(unit) && left-- > 0);
  return result;
}

// [virtual stage]
std::map<int, int> Planner::last_gradient_passes() const {
  std::map<int, int> result;
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    if (passes_[i].ends_gradient()) result[passes_[i].virtual_stage] = static_cast<int>(i);
  }
  return result;
}

void Planner::forward(int index) {
  const Pass& pass = passes_[static_cast<std::size_t>(index)];
  const auto& units = units_of(pass);
  const std::vector<bool> is_offloaded = offloaded(units);
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (!is_offloaded[u]) continue;
    const int unit = static_cast<int>(u);
    OffloadPlan::Hook hook{index, unit, std::nullopt, std::nullopt, result_.events++};
    const int full = static_cast<int>(sent_.size()) - offload_.buffers;
    if (full >= 0) hook.out = sent_[static_cast<std::size_t>(full)];
    issue({index, unit}, {.bytes = units[u].costs->activations, .milestone = *hook.event});
    sent_.push_back(static_cast<int>(result_.out.size()) - 1);
    sent_of_[{pass.micro_batch, pass.virtual_stage, unit}] = sent_.back();
    result_.hooks.push_back(hook);
  }
}

void Planner::backward(int index) {
  const Pass& pass = passes_[static_cast<std::size_t>(index)];
  const auto& units = units_of(pass);
  const std::vector<bool> is_offloaded = offloaded(units);
  const int count = static_cast<int>(units.size());
  for (int position = 0; position < count; ++position) {
    const int unit = count - 1 - position;
    if (!is_offloaded[static_cast<std::size_t>(unit)]) continue;
    OffloadPlan::In copy{.bytes = units[static_cast<std::size_t>(unit)].costs->activations};
    copy.out = sent_of_.at({pass.micro_batch, pass.virtual_stage, unit});
    const int full = static_cast<int>(freed_.size()) - offload_.buffers;
    if (full >= 0) copy.event = freed_[static_cast<std::size_t>(full)];
    freed_.push_back(result_.events++);
    result_.in.push_back(copy);
    result_.hooks.push_back(
        {index, position, std::nullopt, static_cast<int>(result_.in.size()) - 1, freed_.back()});
  }
}

void Planner::activations() {
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    if (passes_[i].kind == Pass::Kind::forward) forward(static_cast<int>(i));
    if (passes_[i].kind == Pass::Kind::backward) backward(static_cast<int>(i));
  }
}

// Behind the reductions that end a gradient; false where there are none.
bool Planner::copy_reduced(Sharers sharers) {
  const DataPlan& data = data_.of(sharers);
  const bool is_shared = sharers == Sharers::data;
  const int ranks = is_shared ? job_.plan.shard_ranks() : job_.plan.expert_sharers();
  const bool is_repeated = job_.plan.sharding >= plan::Sharding::zero2;
  const std::map<int, int> last = last_gradient_passes();
  bool has_any = false;
  for (std::size_t i = 0; i < data.operations.size(); ++i) {
    const DataOperation& operation = data.operations[i];
    if (operation.operation == Operation::all_gather) continue;
    const auto hook = std::find_if(data.hooks.begin(), data.hooks.end(),
                                   [&](const Hook& h) { return h.event == operation.event; });
    invariant(hook != data.hooks.end(), "a reduction waits for no unit");
    has_any = true;
    const Pass& pass = passes_[static_cast<std::size_t>(hook->pass)];
    if (is_repeated && last.at(pass.virtual_stage) != hook->pass) continue;
    const bool is_scattered = operation.operation == Operation::reduce_scatter;
    OffloadPlan::Out copy{
        .bytes = operation.bytes / (is_scattered ? ranks : 1),
        .after = is_shared ? OffloadPlan::Out::After::data : OffloadPlan::Out::After::expert_data,
        .milestone = static_cast<int>(i),
        .is_gradient = true};
    const auto& copies = data_.copies.reductions;
    for (std::size_t r = 0; is_shared && r < copies.size(); ++r) {
      if (copies[r].after != static_cast<int>(i)) continue;
      copy.after = OffloadPlan::Out::After::copies;
      copy.milestone = static_cast<int>(r);
    }
    issue({hook->pass, hook->unit}, copy);
  }
  return has_any;
}

void Planner::copy_gradients(Sharers sharers) {
  if (copy_reduced(sharers)) return;
  for (const auto& [virtual_stage, index] : last_gradient_passes()) {
    const auto& units = units_[static_cast<std::size_t>(virtual_stage)];
    const int count = static_cast<int>(units.size());
    for (int position = 0; position < count; ++position) {
      const Unit& unit = units[static_cast<std::size_t>(count - 1 - position)];
      const double bytes = unit.costs->held_by(sharers).gradients;
      if (bytes == 0) continue;
      result_.hooks.push_back({index, position, std::nullopt, std::nullopt, result_.events});
      issue({index, position},
            {.bytes = bytes, .milestone = result_.events++, .is_gradient = true});
    }
  }
}

// A copy engine takes them one after the other, so none may stand before what it waits for.
void Planner::sort() {
  std::vector<int> order(result_.out.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return issued_at_[static_cast<std::size_t>(a)] < issued_at_[static_cast<std::size_t>(b)];
  });
  std::vector<OffloadPlan::Out> sorted;
  std::vector<int> place(order.size());
  for (const int before : order) {
    place[static_cast<std::size_t>(before)] = static_cast<int>(sorted.size());
    sorted.push_back(result_.out[static_cast<std::size_t>(before)]);
  }
  result_.out = std::move(sorted);
  const auto move = [&](std::optional<int>& copy) {
    if (copy) copy = place[static_cast<std::size_t>(*copy)];
  };
  for (OffloadPlan::Hook& hook : result_.hooks) move(hook.out);
  for (OffloadPlan::In& copy : result_.in) move(copy.out);
  std::stable_sort(result_.hooks.begin(), result_.hooks.end(), [](const auto& a, const auto& b) {
    return std::pair(a.pass, a.unit) < std::pair(b.pass, b.unit);
  });
}

// The CPU's steps, and what they send back.
void Planner::step() {
  const ParameterBytes bytes = parameter_bytes(job_);
  for (std::size_t i = 0; i < result_.out.size(); ++i) {
    OffloadPlan::Out& copy = result_.out[i];
    if (!copy.is_gradient) continue;
    copy.bytes *= offload_.optimizer;
    const double parameters = copy.bytes / bytes.gradient;
    result_.in.push_back(
        {.bytes = parameters * bytes.parameter, .step = static_cast<int>(result_.steps.size())});
    result_.steps.push_back(parameters * bytes.step());
    result_.last_gradient = static_cast<int>(i);
  }
}

OffloadPlan Planner::run() {
  if (offload_.activations > 0) activations();
  if (offload_.optimizer > 0) {
    copy_gradients(Sharers::data);
    copy_gradients(Sharers::expert_data);
  }
  sort();
  step();
  return std::move(result_);
}

}  // namespace

ParameterBytes parameter_bytes(const Job& job) {
  const double element = shard_of(job).bytes_per_element;
  const double gradient = job.stack.gradient_fp32 ? 4 : element;
  const bool is_timed = std::holds_alternative<TimedDnn>(job.dnn);
  return {gradient, is_timed ? gradient : element};
}

OffloadPlan offload_plan(const Job& job, const plan::Schedule& schedule, int stage,
                         const std::vector<std::vector<Unit>>& units, const StageDataPlan& data) {
  return Planner(job, schedule, stage, units, data).run();
}

}  // namespace sim::training
