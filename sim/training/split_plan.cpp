// Cuts the dnn wherever a replica does, and numbers what is reduced and gathered in one order that
// no stage has to wait in vain in.
#include "sim/training/split_plan.h"

#include <algorithm>
#include <set>

#include "sim/training/job_system.h"

namespace sim::training {

using collective::Operation;
using plan::Pass;

namespace {

class SplitPlanner {
 public:
  SplitPlanner(const dnn::SoftwareStack& stack, const plan::Plan& plan,
               std::span<const Pipeline> pipelines, std::span<const Stage> stages,
               std::span<const std::vector<Unit>* const> units, std::vector<StageDataPlan>& data)
      : stack_(stack),
        is_sharded_(plan.sharding != plan::Sharding::none),
        is_alone_(plan.data == 1),
        pipelines_(pipelines),
        stages_(stages),
        units_(units),
        data_(data) {}

  SplitPlan run();

 private:
  // [from, to) in model order.
  struct Range {
    int from = 0, to = 0;
  };
  const std::vector<Pass>& passes(std::size_t stage) const {
    const Stage& s = stages_[stage];
    return pipelines_[static_cast<std::size_t>(s.pipeline)]
        .schedule.passes[static_cast<std::size_t>(s.place)];
  }
  const plan::Schedule& schedule() const { return pipelines_.front().schedule; }
  int round_of(std::size_t stage, const Pass& pass) const {
    const auto pipeline = static_cast<std::size_t>(stages_[stage].pipeline);
    return pass.micro_batch / pipelines_[pipeline].schedule.micro_batches;
  }
  DataPlan& data_of(std::size_t stage) { return data_[stage].by_sharers.front(); }
  // Of a share.
  HeldBytes held(std::size_t part, int unit) const {
    const std::size_t stage = widest_[part];
    const auto place = static_cast<std::size_t>(unit - first_unit_[stage]);
    return (*units_[stage])[place].costs->held_by(Sharers::data);
  }

  void lay_out();
  void cut();
  void add_part(Range range);
  void issue(std::size_t part, SplitPlan::Step step);
  void gather_before_forward(int round);
  void reduce(int round);
  void reduce_part(std::size_t part, int round);
  SplitPlan::Wait raise(std::size_t stage, int round, int unit);
  int last_pass(std::size_t stage, int round) const;
  void gather_after_optimizer(int round);

  const dnn::SoftwareStack& stack_;
  const bool is_sharded_, is_alone_;
  std::span<const Pipeline> pipelines_;
  std::span<const Stage> stages_;
  std::span<const std::vector<Unit>* const> units_;
  std::vector<StageDataPlan>& data_;
  std::vector<int> first_unit_;      // [stage] in model order
  std::vector<Range> ranges_;        // [part]
  std::vector<std::size_t> widest_;  // [part] the stage with the largest tensor degree
  SplitPlan result_;
};

void SplitPlanner::lay_out() {
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    const bool is_first = stages_[stage].place == 0;
    first_unit_.push_back(
        is_first ? 0 : first_unit_.back() + static_cast<int>(units_[stage - 1]->size()));
    DataPlan& data = data_[stage].by_sharers.emplace_back();
    data.is_concurrent.assign(passes(stage).size(), false);
    data.optimizer_waits.resize(static_cast<std::size_t>(schedule().rounds));
  }
}

void SplitPlanner::cut() {
  std::set<int> cuts(first_unit_.begin(), first_unit_.end());
  cuts.insert(first_unit_.back() + static_cast<int>(units_.back()->size()));
  for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
    add_part({*cut, *std::next(cut)});
  }
}

void SplitPlanner::add_part(Range range) {
  SplitPlan::Part part;
  std::size_t widest = 0;
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    const int first = first_unit_[stage];
    const bool holds =
        first <= range.from && range.to <= first + static_cast<int>(units_[stage]->size());
    if (!holds) continue;
    part.stages.push_back(static_cast<int>(stage));
    const int degree = stages_[stage].plan.tensor;
    if (part.stages.size() > 1 && degree <= part.shares) continue;
    part.shares = degree;
    widest = stage;
  }
  invariant(part.stages.size() == pipelines_.size(), "a part is not on one stage of a pipeline");
  ranges_.push_back(range);
  widest_.push_back(widest);
  result_.parts.push_back(std::move(part));
}

void SplitPlanner::issue(std::size_t part, SplitPlan::Step step) {
  result_.parts[part].numbers.push_back(result_.steps++);
  result_.parts[part].steps.push_back(std::move(step));
}

// One gather a unit, which the first forward pass of the round waits for.
void SplitPlanner::gather_before_forward(int round) {
  for (std::size_t p = 0; p < result_.parts.size(); ++p) {
    for (int unit = ranges_[p].from; unit < ranges_[p].to; ++unit) {
      const double bytes = held(p, unit).parameters;
      if (bytes == 0) continue;
      SplitPlan::Step step{Operation::all_gather, bytes, {}, "gather parameters"};
      for (const int index : result_.parts[p].stages) {
        const auto stage = static_cast<std::size_t>(index);
        SplitPlan::Wait& wait = step.waits.emplace_back();
        const auto& all = passes(stage);
        std::size_t i = 0;
        for (; all[i].kind != Pass::Kind::forward || round_of(stage, all[i]) != round; ++i) {
          if (all[i].kind == Pass::Kind::update) wait.update = all[i].micro_batch;
        }
        DataPlan& data = data_of(stage);
        data.hooks.push_back({static_cast<int>(i), unit - first_unit_[stage], result_.steps, {}});
        std::fill_n(data.is_concurrent.begin(), i + 1, true);
      }
      issue(p, std::move(step));
    }
  }
}

// The pass after which all gradients of the round are there; or the last one of the round.
int SplitPlanner::last_pass(std::size_t stage, int round) const {
  const auto& all = passes(stage);
  int last = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind == Pass::Kind::update || round_of(stage, all[i]) != round) continue;
    if (all[i].ends_gradient() || !stack_.overlaps_gradient_reduction) last = static_cast<int>(i);
  }
  return last;
}

// The event of a stage when the gradients of a unit, and of those behind it, are there.
SplitPlan::Wait SplitPlanner::raise(std::size_t stage, int round, int unit) {
  const int pass = last_pass(stage, round);
  const int last = static_cast<int>(units_[stage]->size()) - 1;
  const bool is_at_end = !stack_.overlaps_gradient_reduction;
  DataPlan& data = data_of(stage);
  data.hooks.push_back(
      {pass, is_at_end ? last : last - (unit - first_unit_[stage]), std::nullopt, data.events});
  if (!is_at_end) {
    std::fill(data.is_concurrent.begin() + pass, data.is_concurrent.end(), true);
  }
  data.optimizer_waits[static_cast<std::size_t>(round)] = result_.steps;
  return {data.events++, std::nullopt};
}

// A bucket is closed when it holds at least the stack's bucket size, and at the end of the part.
void SplitPlanner::reduce_part(std::size_t part, int round) {
  const bool is_in_buckets = stack_.overlaps_gradient_reduction && stack_.bucket.value() > 0;
  double bytes = 0;
  for (int unit = ranges_[part].to - 1; unit >= ranges_[part].from; --unit) {
    bytes += held(part, unit).gradients;
    const bool is_full = is_in_buckets && bytes >= stack_.bucket.value();
    if (bytes == 0 || (!is_full && unit > ranges_[part].from)) continue;
    SplitPlan::Step step{is_sharded_ ? Operation::reduce_scatter : Operation::all_reduce,
                         bytes,
                         {},
                         "reduce gradients"};
    for (const int stage : result_.parts[part].stages) {
      step.waits.push_back(raise(static_cast<std::size_t>(stage), round, unit));
    }
    issue(part, std::move(step));
    bytes = 0;
  }
}

void SplitPlanner::reduce(int round) {
  for (std::size_t p = result_.parts.size(); p-- > 0;) reduce_part(p, round);
}

// One gather a part; the next forward pass of the stage waits for it, after the last round the
// iteration does.
void SplitPlanner::gather_after_optimizer(int round) {
  for (std::size_t p = 0; p < result_.parts.size(); ++p) {
    double bytes = 0;
    for (int unit = ranges_[p].from; unit < ranges_[p].to; ++unit)
      bytes += held(p, unit).parameters;
    if (bytes == 0) continue;
    SplitPlan::Step step{Operation::all_gather, bytes, {}, "gather parameters"};
    for (const int index : result_.parts[p].stages) {
      const auto stage = static_cast<std::size_t>(index);
      step.waits.push_back({std::nullopt, round});
      const auto& all = passes(stage);
      bool is_updated = false;
      std::optional<int> forward;
      for (std::size_t i = 0; i < all.size() && !forward; ++i) {
        if (all[i] == Pass{Pass::Kind::update, round, 0}) is_updated = true;
        if (is_updated && all[i].kind == Pass::Kind::forward) forward = static_cast<int>(i);
      }
      DataPlan& data = data_of(stage);
      if (forward) {
        data.hooks.push_back({*forward, 0, result_.steps, {}});
      } else {
        data.end_waits = result_.steps;
      }
    }
    issue(p, std::move(step));
  }
}

// What a round gathers may have to come before what is reduced of rounds before it: its first
// forward pass runs before their last backward passes, with weights that are `staleness` rounds
// older.
SplitPlan SplitPlanner::run() {
  lay_out();
  if (is_alone_) return {};
  cut();
  const int rounds = schedule().rounds, late = schedule().staleness;
  const bool gathers_first = is_sharded_ && stack_.overlaps_parameter_gather;
  for (int round = 0; round < rounds + late; ++round) {
    if (gathers_first && round < rounds) gather_before_forward(round);
    if (round < late) continue;
    reduce(round - late);
    if (is_sharded_ && !gathers_first) gather_after_optimizer(round - late);
  }
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    finish_hooks(data_of(stage));
  }
  return std::move(result_);
}

}  // namespace

SplitPlan split_plan(const dnn::SoftwareStack& stack, const plan::Plan& plan,
                     std::span<const Pipeline> pipelines, std::span<const Stage> stages,
                     std::span<const std::vector<Unit>* const> units,
                     std::vector<StageDataPlan>& data) {
  data.resize(stages.size());
  return SplitPlanner(stack, plan, pipelines, stages, units, data).run();
}

}  // namespace sim::training
