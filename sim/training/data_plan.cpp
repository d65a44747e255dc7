// Buckets of gradients and gathers of parameters in the order they are issued.
#include "sim/training/data_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace sim::training {

using collective::Operation;
using plan::Pass;
using plan::Sharding;

namespace {

class Planner {
 public:
  Planner(const plan::Plan& plan, const dnn::SoftwareStack& stack, const plan::Schedule& schedule,
          int stage, const std::vector<std::vector<Unit>>& units, Sharers sharers)
      : plan_(plan),
        stack_(stack),
        schedule_(schedule),
        sharers_(sharers),
        passes_(schedule.passes[static_cast<std::size_t>(stage)]),
        units_(units) {
    result_.is_concurrent.assign(passes_.size(), false);
    result_.optimizer_waits.resize(static_cast<std::size_t>(schedule.rounds));
    std::optional<int> update;
    for (const Pass& pass : passes_) {
      if (pass.kind == Pass::Kind::update) update = pass.micro_batch;
      update_before_.push_back(update);
    }
  }

  DataPlan run();

 private:
  const std::vector<Unit>& units_of(const Pass& pass) const {
    return units_[static_cast<std::size_t>(pass.virtual_stage)];
  }
  const Pass& pass_at(int index) const { return passes_[static_cast<std::size_t>(index)]; }
  int pass_count() const { return static_cast<int>(passes_.size()); }
  int last_operation() const { return static_cast<int>(result_.operations.size()) - 1; }
  int round_of(const Pass& pass) const { return pass.micro_batch / schedule_.micro_batches; }
  std::optional<int>& optimizer_wait(int round) {
    return result_.optimizer_waits[static_cast<std::size_t>(round)];
  }

  HeldBytes held(const Unit& unit) const { return unit.costs->held_by(sharers_); }

  // Unit `position` in the order the pass runs them.
  const Unit& unit_at(const Pass& pass, int position) const {
    const auto& units = units_of(pass);
    const int index =
        pass.kind == Pass::Kind::forward ? position : static_cast<int>(units.size()) - 1 - position;
    return units[static_cast<std::size_t>(index)];
  }

  // In the order of the passes that issue them.
  void issue(int pass, DataOperation operation) {
    issued_at_.push_back(pass);
    result_.operations.push_back(std::move(operation));
  }
  void sort_operations();
  std::vector<bool> last_gradients() const;
  void reduce_at_end(Operation operation);
  void reduce();
  void reduce_pass(int pass_index, Operation operation);
  void gather_before_forward();
  void gather_after_optimizer();
  void shard_fully();

  const plan::Plan& plan_;
  const dnn::SoftwareStack& stack_;
  const plan::Schedule& schedule_;
  const Sharers sharers_;
  const std::vector<Pass>& passes_;
  const std::vector<std::vector<Unit>>& units_;
  std::vector<std::optional<int>> update_before_;  // [pass] the round of the last one
  std::vector<int> issued_at_;                     // [operation] pass
  DataPlan result_;
};

DataPlan Planner::run() {
  if (plan_.sharding == Sharding::zero3) {
    shard_fully();
  } else {
    const bool gathers = plan_.sharding != Sharding::none;
    if (gathers && stack_.overlaps_parameter_gather) gather_before_forward();
    reduce();
    if (gathers && !stack_.overlaps_parameter_gather) gather_after_optimizer();
    sort_operations();
  }
  finish_hooks(result_);
  return std::move(result_);
}

// The stream runs them one after the other, so none may stand before what it waits for.
void Planner::sort_operations() {
  const std::size_t count = result_.operations.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return issued_at_[a] < issued_at_[b]; });
  std::vector<DataOperation> sorted;
  std::vector<int> place(count);
  for (const std::size_t before : order) {
    place[before] = static_cast<int>(sorted.size());
    sorted.push_back(std::move(result_.operations[before]));
  }
  result_.operations = std::move(sorted);
  const auto move = [&](std::optional<int>& operation) {
    if (operation) operation = place[static_cast<std::size_t>(*operation)];
  };
  for (Hook& hook : result_.hooks) move(hook.wait);
  for (std::optional<int>& wait : result_.optimizer_waits) move(wait);
  move(result_.end_waits);
}

// [pass] whether it leaves the gradients of its virtual stage as they are for the optimizer.
std::vector<bool> Planner::last_gradients() const {
  std::map<std::pair<int, int>, std::size_t> last;  // (round, virtual stage)
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    const Pass& pass = passes_[i];
    if (pass.ends_gradient()) last[{round_of(pass), pass.virtual_stage}] = i;
  }
  std::vector<bool> result(passes_.size(), false);
  for (const auto& [key, index] : last) result[index] = true;
  return result;
}

// All gradients of a round in one, after its last pass.
void Planner::reduce_at_end(Operation operation) {
  double bytes = 0;
  for (const auto& units : units_) {
    for (const Unit& unit : units) bytes += held(unit).gradients;
  }
  if (bytes == 0) return;
  std::vector<int> last(static_cast<std::size_t>(schedule_.rounds), 0);  // [round] pass
  for (int i = 0; i < pass_count(); ++i) {
    if (pass_at(i).kind == Pass::Kind::update) continue;
    last[static_cast<std::size_t>(round_of(pass_at(i)))] = i;
  }
  for (int round = 0; round < schedule_.rounds; ++round) {
    const int pass = last[static_cast<std::size_t>(round)];
    const int unit = static_cast<int>(units_of(pass_at(pass)).size()) - 1;
    result_.hooks.push_back({pass, unit, std::nullopt, result_.events});
    issue(pass, {operation, bytes, result_.events++, std::nullopt, "reduce gradients"});
    optimizer_wait(round) = last_operation();
  }
}

void Planner::reduce() {
  const Operation operation =
      plan_.sharding == Sharding::none ? Operation::all_reduce : Operation::reduce_scatter;
  const bool every_micro_batch = plan_.sharding == Sharding::zero2;
  const bool is_both = schedule_.arrangement == plan::Arrangement::both_ways;
  if (is_both || (!stack_.overlaps_gradient_reduction && !every_micro_batch)) {
    return reduce_at_end(operation);
  }
  const std::vector<bool> is_last = last_gradients();
  std::optional<int> first;
  for (int i = 0; i < pass_count(); ++i) {
    const Pass& pass = pass_at(i);
    if (!pass.ends_gradient()) continue;
    if (!every_micro_batch && !is_last[static_cast<std::size_t>(i)]) continue;
    if (!first) first = i;
    reduce_pass(i, operation);
    if (last_operation() >= 0) optimizer_wait(round_of(pass)) = last_operation();
  }
  if (result_.operations.empty()) return;
  // From the first bucket on, reductions may be in progress.
  for (std::size_t i = static_cast<std::size_t>(first.value_or(0)); i < passes_.size(); ++i) {
    result_.is_concurrent[i] = true;
  }
}

// A bucket is closed when it holds at least the stack's bucket size, and at the end of the pass.
void Planner::reduce_pass(int pass_index, Operation operation) {
  const Pass& pass = pass_at(pass_index);
  const int count = static_cast<int>(units_of(pass).size());
  double bytes = 0;
  for (int u = 0; u < count; ++u) {
    bytes += held(unit_at(pass, u)).gradients;
    const bool is_full = stack_.bucket.value() > 0 && bytes >= stack_.bucket.value();
    if (bytes == 0 || (!is_full && u + 1 < count)) continue;
    result_.hooks.push_back({pass_index, u, std::nullopt, result_.events});
    issue(pass_index, {operation, bytes, result_.events++, std::nullopt, "reduce gradients"});
    bytes = 0;
  }
}

// The parameters that the last optimizer step wrote, behind the first forward pass of each virtual
// stage in a round; one gather a unit.
void Planner::gather_before_forward() {
  std::set<std::pair<int, int>> seen;  // (round, virtual stage)
  for (int i = 0; i < pass_count(); ++i) {
    const Pass& pass = pass_at(i);
    if (pass.kind != Pass::Kind::forward) continue;
    if (!seen.insert({round_of(pass), pass.virtual_stage}).second) continue;
    for (int u = 0; u < static_cast<int>(units_of(pass).size()); ++u) {
      const double bytes = held(unit_at(pass, u)).parameters;
      if (bytes == 0) continue;
      issue(i, {Operation::all_gather, bytes, std::nullopt,
                update_before_[static_cast<std::size_t>(i)], "gather parameters"});
      result_.hooks.push_back({i, u, last_operation(), std::nullopt});
    }
    for (int before = 0; before <= i; ++before) {
      result_.is_concurrent[static_cast<std::size_t>(before)] = true;
    }
  }
}

// The next forward pass of the stage waits for it; after the last round the iteration does.
void Planner::gather_after_optimizer() {
  double bytes = 0;
  for (const auto& units : units_) {
    for (const Unit& unit : units) bytes += held(unit).parameters;
  }
  if (bytes == 0) return;
  std::optional<int> gathered;
  for (int i = 0; i < pass_count(); ++i) {
    const Pass& pass = pass_at(i);
    if (pass.kind == Pass::Kind::update) {
      issue(i, {Operation::all_gather, bytes, std::nullopt, pass.micro_batch, "gather parameters"});
      gathered = last_operation();
    } else if (pass.kind == Pass::Kind::forward && gathered) {
      result_.hooks.push_back({i, 0, gathered, std::nullopt});
      gathered.reset();
    }
  }
  result_.end_waits = gathered;
}

void Planner::shard_fully() {
  struct Visit {
    int pass, unit;
    const Unit* what;
    bool gathers, scatters;
  };
  std::vector<Visit> visits;
  std::set<const Unit*> whole;  // after a forward pass, until the next backward pass
  for (int i = 0; i < pass_count(); ++i) {
    const Pass& pass = pass_at(i);
    if (pass.kind == Pass::Kind::update) continue;
    bool is_first = true;
    for (int u = 0; u < static_cast<int>(units_of(pass).size()); ++u) {
      const Unit& unit = unit_at(pass, u);
      if (held(unit).parameters == 0) continue;
      // The unit just ran forward, its parameters are still whole.
      const bool just_ran =
          pass.is_backward() && std::exchange(is_first, false) && i > 0 &&
          pass_at(i - 1) == Pass{Pass::Kind::forward, pass.micro_batch, pass.virtual_stage};
      const bool needs_parameters = pass.kind != Pass::Kind::backward_weight;
      const bool is_kept = just_ran || whole.count(&unit) > 0;
      visits.push_back({i, u, &unit, needs_parameters && !is_kept, pass.ends_gradient()});
      if (plan_.reshard_after_forward) continue;
      if (pass.kind == Pass::Kind::forward) whole.insert(&unit);
      if (pass.is_backward()) whole.erase(&unit);
    }
  }
  // Event q is raised when visit q has ended. The gather of visit q may start when visit
  // q - prefetch starts; the scatter of a backward visit comes after the next gather.
  const int count = static_cast<int>(visits.size());
  result_.events = count;
  const auto scatter = [&](int q) {
    const Visit& v = visits[static_cast<std::size_t>(q)];
    result_.operations.push_back(
        {Operation::reduce_scatter, held(*v.what).gradients, q, std::nullopt, "reduce gradients"});
    optimizer_wait(round_of(pass_at(v.pass))) = last_operation();
  };
  for (int q = 0; q < count; ++q) {
    const Visit& v = visits[static_cast<std::size_t>(q)];
    Hook hook{v.pass, v.unit, std::nullopt, q};
    const std::optional<int> update = update_before_[static_cast<std::size_t>(v.pass)];
    const bool has_scatter = q > 0 && visits[static_cast<std::size_t>(q) - 1].scatters;
    // Gradients of the last round come before parameters that its update has written.
    const bool is_new_round =
        q > 0 &&
        update_before_[static_cast<std::size_t>(visits[static_cast<std::size_t>(q) - 1].pass)] !=
            update;
    if (has_scatter && is_new_round) scatter(q - 1);
    if (v.gathers) {
      DataOperation gather{Operation::all_gather, held(*v.what).parameters, std::nullopt, update,
                           "gather parameters"};
      const int starts_after = q - 1 - stack_.prefetch_layers;
      if (starts_after >= 0) gather.event = starts_after;
      result_.operations.push_back(gather);
      hook.wait = last_operation();
    }
    result_.hooks.push_back(hook);
    if (has_scatter && !is_new_round) scatter(q - 1);
  }
  if (count > 0 && visits.back().scatters) scatter(count - 1);
}

}  // namespace

void finish_hooks(DataPlan& data) {
  std::stable_sort(data.hooks.begin(), data.hooks.end(), [](const Hook& a, const Hook& b) {
    return a.pass != b.pass ? a.pass < b.pass : a.unit < b.unit;
  });
  for (const Hook& hook : data.hooks) {
    data.is_concurrent[static_cast<std::size_t>(hook.pass)] = true;
  }
}

CopyPlan copy_plan(const plan::Plan& plan, const DataPlan& data) {
  CopyPlan result;
  if (plan.copies() == 1) return result;
  for (std::size_t i = 0; i < data.operations.size(); ++i) {
    const DataOperation& operation = data.operations[i];
    if (operation.operation != Operation::reduce_scatter) continue;
    result.reductions.push_back({operation.bytes / plan.shard_ranks(), static_cast<int>(i)});
  }
  for (const std::optional<int>& wait : data.optimizer_waits) {
    const auto found = std::find_if(result.reductions.begin(), result.reductions.end(),
                                    [&](const auto& r) { return r.after == wait; });
    result.optimizer_waits.emplace_back();
    if (found == result.reductions.end()) continue;
    result.optimizer_waits.back() = static_cast<int>(found - result.reductions.begin());
  }
  return result;
}

namespace {

// Among so many ranks.
DataPlan planned(const plan::Plan& plan, const dnn::SoftwareStack& stack,
                 const plan::Schedule& schedule, int stage,
                 const std::vector<std::vector<Unit>>& units, Sharers sharers, int count) {
  const bool holds_any = std::any_of(units.begin(), units.end(), [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const Unit& unit) {
      return unit.costs->held_by(sharers).gradients > 0;
    });
  });
  const bool is_alone = count == 1 && schedule.arrangement != plan::Arrangement::both_ways;
  if (is_alone || !holds_any) {
    DataPlan nothing;
    nothing.is_concurrent.assign(schedule.passes[static_cast<std::size_t>(stage)].size(), false);
    nothing.optimizer_waits.resize(static_cast<std::size_t>(schedule.rounds));
    return nothing;
  }
  return Planner(plan, stack, schedule, stage, units, sharers).run();
}

}  // namespace

DataPlan data_plan(const plan::Plan& plan, const dnn::SoftwareStack& stack,
                   const plan::Schedule& schedule, int stage,
                   const std::vector<std::vector<Unit>>& units, Sharers sharers) {
  if (index_of(sharers) >= index_of(Sharers::further)) {
    const plan::Plan own = plan::plan_of(plan, plan::holdings(plan)[holding_of(sharers)]);
    return planned(own, stack, schedule, stage, units, sharers, own.sharers());
  }
  return planned(plan, stack, schedule, stage, units, sharers,
                 sharers == Sharers::data ? plan.shard_ranks() : plan.expert_sharers());
}

std::string name_of(Sharers sharers) {
  if (sharers == Sharers::data) return "data";
  if (sharers == Sharers::expert_data) return "expert data";
  return fmt::format("data of cut {}", holding_of(sharers));
}

}  // namespace sim::training
