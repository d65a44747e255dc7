// Buckets of gradients and gathers of parameters in the order they are issued.
#include "sim/training/data_plan.h"

#include <algorithm>
#include <utility>

namespace sim::training {

using collective::Operation;
using plan::Pass;
using plan::Sharding;

namespace {

class Planner {
 public:
  Planner(const plan::Plan& plan, const dnn::SoftwareStack& stack, const std::vector<Pass>& passes,
          const std::vector<std::vector<Unit>>& units)
      : plan_(plan), stack_(stack), passes_(passes), units_(units) {
    result_.is_concurrent.assign(passes.size(), false);
  }

  DataPlan run() {
    if (plan_.sharding == Sharding::zero3) {
      shard_fully();
    } else {
      const bool gathers = plan_.sharding != Sharding::none;
      if (gathers && stack_.overlaps_parameter_gather) gather_before_forward();
      reduce();
      if (gathers && !stack_.overlaps_parameter_gather) gather_after_optimizer();
    }
    std::stable_sort(result_.hooks.begin(), result_.hooks.end(), [](const Hook& a, const Hook& b) {
      return a.pass != b.pass ? a.pass < b.pass : a.unit < b.unit;
    });
    for (const Hook& hook : result_.hooks) {
      result_.is_concurrent[static_cast<std::size_t>(hook.pass)] = true;
    }
    return std::move(result_);
  }

 private:
  const std::vector<Unit>& units_of(const Pass& pass) const {
    return units_[static_cast<std::size_t>(pass.virtual_stage)];
  }
  int last_operation() const { return static_cast<int>(result_.operations.size()) - 1; }

  // Unit `position` in the order the pass runs them.
  const Unit& unit_at(const Pass& pass, int position) const {
    const auto& units = units_of(pass);
    const int index =
        pass.kind == Pass::Kind::forward ? position : static_cast<int>(units.size()) - 1 - position;
    return units[static_cast<std::size_t>(index)];
  }

  bool is_last_backward(const Pass& pass) const {
    return pass.kind == Pass::Kind::backward && pass.micro_batch == plan_.micro_batches() - 1;
  }

  void reduce();
  void reduce_pass(int pass_index, Operation operation);
  void gather_before_forward();
  void gather_after_optimizer();
  void shard_fully();

  const plan::Plan& plan_;
  const dnn::SoftwareStack& stack_;
  const std::vector<Pass>& passes_;
  const std::vector<std::vector<Unit>>& units_;
  DataPlan result_;
};

void Planner::reduce() {
  const Operation operation =
      plan_.sharding == Sharding::none ? Operation::all_reduce : Operation::reduce_scatter;
  const bool every_micro_batch = plan_.sharding == Sharding::zero2;
  if (!stack_.overlaps_gradient_reduction && !every_micro_batch) {
    double bytes = 0;
    for (const auto& units : units_) {
      for (const Unit& unit : units) bytes += unit.costs->gradient_bytes;
    }
    if (bytes == 0) return;
    const int last_pass = static_cast<int>(passes_.size()) - 1;
    const Pass& pass = passes_.back();
    result_.hooks.push_back(
        {last_pass, static_cast<int>(units_of(pass).size()) - 1, std::nullopt, result_.events});
    result_.operations.push_back({operation, bytes, result_.events++, false, "reduce gradients"});
    result_.optimizer_waits = last_operation();
    return;
  }
  std::optional<int> first;
  for (int i = 0; i < static_cast<int>(passes_.size()); ++i) {
    const Pass& pass = passes_[static_cast<std::size_t>(i)];
    if (pass.kind != Pass::Kind::backward) continue;
    if (!every_micro_batch && !is_last_backward(pass)) continue;
    if (!first) first = i;
    reduce_pass(i, operation);
  }
  if (result_.operations.empty()) return;
  if (last_operation() >= 0) result_.optimizer_waits = last_operation();
  // From the first bucket on, reductions may be in progress.
  for (std::size_t i = static_cast<std::size_t>(first.value_or(0)); i < passes_.size(); ++i) {
    result_.is_concurrent[i] = true;
  }
}

// A bucket is closed when it holds at least the stack's bucket size, and at the end of the pass.
void Planner::reduce_pass(int pass_index, Operation operation) {
  const Pass& pass = passes_[static_cast<std::size_t>(pass_index)];
  const int count = static_cast<int>(units_of(pass).size());
  double bytes = 0;
  for (int u = 0; u < count; ++u) {
    bytes += unit_at(pass, u).costs->gradient_bytes;
    const bool is_full = stack_.bucket.value() > 0 && bytes >= stack_.bucket.value();
    if (bytes == 0 || (!is_full && u + 1 < count)) continue;
    result_.hooks.push_back({pass_index, u, std::nullopt, result_.events});
    result_.operations.push_back({operation, bytes, result_.events++, false, "reduce gradients"});
    bytes = 0;
  }
}

// The parameters that the last optimizer step wrote, behind the first forward pass of each virtual
// stage; one gather a unit.
void Planner::gather_before_forward() {
  for (int i = 0; i < static_cast<int>(passes_.size()); ++i) {
    const Pass& pass = passes_[static_cast<std::size_t>(i)];
    if (pass.kind != Pass::Kind::forward || pass.micro_batch != 0) continue;
    for (int u = 0; u < static_cast<int>(units_of(pass).size()); ++u) {
      const double bytes = unit_at(pass, u).costs->parameter_bytes;
      if (bytes == 0) continue;
      result_.operations.push_back(
          {Operation::all_gather, bytes, std::nullopt, false, "gather parameters"});
      result_.hooks.push_back({i, u, last_operation(), std::nullopt});
    }
    for (int before = 0; before <= i; ++before) {
      result_.is_concurrent[static_cast<std::size_t>(before)] = true;
    }
  }
}

void Planner::gather_after_optimizer() {
  double bytes = 0;
  for (const auto& units : units_) {
    for (const Unit& unit : units) bytes += unit.costs->parameter_bytes;
  }
  if (bytes == 0) return;
  result_.operations.push_back(
      {Operation::all_gather, bytes, std::nullopt, true, "gather parameters"});
  result_.end_waits = last_operation();
}

void Planner::shard_fully() {
  struct Visit {
    int pass, unit;
    const Unit* what;
    bool is_backward, is_kept;  // kept: the unit just ran forward, its parameters are still whole
  };
  std::vector<Visit> visits;
  for (int i = 0; i < static_cast<int>(passes_.size()); ++i) {
    const Pass& pass = passes_[static_cast<std::size_t>(i)];
    bool is_first = true;
    for (int u = 0; u < static_cast<int>(units_of(pass).size()); ++u) {
      const Unit& unit = unit_at(pass, u);
      if (unit.costs->parameter_bytes == 0) continue;
      const bool is_backward = pass.kind == Pass::Kind::backward;
      const bool is_kept = is_backward && std::exchange(is_first, false) && i > 0 &&
                           passes_[static_cast<std::size_t>(i) - 1] ==
                               Pass{Pass::Kind::forward, pass.micro_batch, pass.virtual_stage};
      visits.push_back({i, u, &unit, is_backward, is_kept});
    }
  }
  // Event q is raised when visit q has ended. The gather of visit q may start when visit
  // q - prefetch starts; the scatter of a backward visit comes after the next gather.
  const int count = static_cast<int>(visits.size());
  result_.events = count;
  const auto scatter = [&](int q) {
    const Visit& v = visits[static_cast<std::size_t>(q)];
    result_.operations.push_back(
        {Operation::reduce_scatter, v.what->costs->gradient_bytes, q, false, "reduce gradients"});
    result_.optimizer_waits = last_operation();
  };
  for (int q = 0; q < count; ++q) {
    const Visit& v = visits[static_cast<std::size_t>(q)];
    Hook hook{v.pass, v.unit, std::nullopt, q};
    if (!v.is_kept) {
      DataOperation gather{Operation::all_gather, v.what->costs->parameter_bytes, std::nullopt,
                           false, "gather parameters"};
      const int starts_after = q - 1 - stack_.prefetch_layers;
      if (starts_after >= 0) gather.event = starts_after;
      result_.operations.push_back(gather);
      hook.wait = last_operation();
    }
    result_.hooks.push_back(hook);
    if (q > 0 && visits[static_cast<std::size_t>(q) - 1].is_backward) scatter(q - 1);
  }
  if (count > 0 && visits.back().is_backward) scatter(count - 1);
}

}  // namespace

DataPlan data_plan(const plan::Plan& plan, const dnn::SoftwareStack& stack,
                   const std::vector<Pass>& passes, const std::vector<std::vector<Unit>>& units) {
  if (plan.data == 1) {
    DataPlan nothing;
    nothing.is_concurrent.assign(passes.size(), false);
    return nothing;
  }
  return Planner(plan, stack, passes, units).run();
}

}  // namespace sim::training
