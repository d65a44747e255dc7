// What every layer, the embedding and the head cost, each kind once.
#include "sim/training/costs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/plan/schedule.h"
#include "sim/training/coster.h"

namespace sim::training {

namespace profile = calibrate::profile;

namespace {

// Without the weight gradients, which run elsewhere, a collective has less beside it.
void split_backward(UnitCosts& unit) {
  for (std::size_t i = 0; i < unit.backward.size(); ++i) {
    const CostedOperator& o = unit.backward[i];
    if (o.is_weight_gradient) {
      unit.backward_weight.push_back(o);
      continue;
    }
    CostedOperator& kept = unit.backward_input.emplace_back(o);
    int left = o.overlapped;
    for (std::size_t k = i + 1; left > 0 && k < unit.backward.size(); ++k) {
      const CostedOperator& beside = unit.backward[k];
      if (beside.collective && beside.group == o.group) continue;
      if (beside.is_weight_gradient) --kept.overlapped;
      --left;
    }
  }
}

JobCosts timed_costs(const TimedDnn& dnn, const plan::Plan& plan) {
  JobCosts costs;
  UnitCosts& layer = costs.layer_kinds.emplace_back();
  costs.kind_of_layer.assign(static_cast<std::size_t>(dnn.layers), 0);
  layer.forward = {timed("layer forward", dnn.forward)};
  layer.backward = {timed("layer backward", dnn.backward)};
  layer.held.front() = {dnn.parameters.value(), dnn.parameters.value()};
  layer.activations = dnn.activations.value();
  costs.embedding.forward = {timed("embedding forward", dnn.embedding_forward)};
  costs.embedding.backward = {timed("embedding backward", dnn.embedding_backward)};
  costs.head.forward = {timed("head forward", dnn.head_forward)};
  costs.head.backward = {timed("head backward", dnn.head_backward)};
  // Of a unit's backward pass the share that is the weight gradient's.
  const auto split = [](UnitCosts& unit, Seconds weight) {
    CostedOperator gradient = unit.backward.front();
    gradient.name += ", weights";
    gradient.work = to_picoseconds(weight);
    gradient.is_weight_gradient = true;
    unit.backward.front().work -= gradient.work;
    unit.backward.push_back(gradient);
    split_backward(unit);
    unit.backward.pop_back();
    unit.backward.front().work += gradient.work;
  };
  split(layer, dnn.backward_weight);
  // The same layer, held otherwise.
  const auto holdings = plan::holdings(plan);
  for (std::size_t i = 1; i < holdings.size(); ++i) {
    costs.layer_kinds.push_back(costs.layer_kinds.front());
    costs.layer_kinds.back().holding = i;
  }
  for (int l = 0; l < dnn.layers && holdings.size() > 1; ++l) {
    costs.kind_of_layer[static_cast<std::size_t>(l)] =
        plan::holding_of(holdings, plan::strategy_of(plan, l));
  }
  split(costs.embedding, Seconds(0));
  split(costs.head, dnn.head_backward_weight);
  costs.boundary = dnn.boundary;
  return costs;
}

double bytes_per_element(profile::Precision precision) {
  const bool is_wide =
      precision == profile::Precision::fp32 || precision == profile::Precision::tf32;
  return is_wide ? 4 : 2;  // fp8 keeps activations and weights in bf16 between operators
}

}  // namespace

dnn::Shard shard_of(const Job& job) {
  return plan::shard_of(job.plan, bytes_per_element(job.precision));
}

std::vector<int> layers_of_parts(const Job& job, const plan::Plan& plan) {
  if (const auto* timed_dnn = std::get_if<TimedDnn>(&job.dnn)) {
    return plan::layers_per_virtual_stage(plan, timed_dnn->layers);
  }
  return plan::layers_per_virtual_stage(plan, std::get<dnn::Transformer>(job.dnn), job.stack);
}

namespace {

// What passes between stages, of one micro-batch and rank.
void fill_boundary(const Job& job, const dnn::Transformer& dnn, const dnn::Shard& shard,
                   JobCosts& costs) {
  const double tokens = static_cast<double>(shard.sequence) / shard.context *
                        static_cast<double>(shard.micro_batch) /
                        (shard.sequence_parallel ? shard.tensor : 1);
  costs.boundary = Bytes(tokens * static_cast<double>(dnn.hidden) * shard.bytes_per_element);
  if (!job.stack.pipeline_scatters || shard.tensor == 1 || shard.sequence_parallel) return;
  costs.gathered = costs.boundary;
  costs.boundary = costs.boundary / shard.tensor;
}

constexpr std::vector<CostedOperator> UnitCosts::*passes[] = {
    &UnitCosts::forward, &UnitCosts::backward, &UnitCosts::backward_input,
    &UnitCosts::backward_weight};

class JobCoster {
 public:
  JobCoster(const Job& job, const profile::Profile& profile, int expert_rank, int expert_group)
      : job_(job),
        dnn_(std::get<dnn::Transformer>(job.dnn)),
        shard_(shard_of(job)),
        coster_(job, profile, packed_lengths(job.plan)),
        expert_rank_(expert_rank),
        expert_group_(expert_group),
        holdings_(plan::holdings(job.plan)),
        gradient_bytes_(job.stack.gradient_fp32 ? 4 : shard_.bytes_per_element) {}

  JobCosts run();

 private:
  struct Loads {  // of a layer's experts
    dnn::Shard shard;
    std::shared_ptr<const std::vector<double>> of_ranks;  // none: even
  };
  bool has_loads() const;
  Loads loads_of(int layer, int micro_batch = 0) const;
  UnitCosts unit(const dnn::LayerOperators& operators, double parameters, double experts = 0,
                 const std::shared_ptr<const std::vector<double>>& loads = nullptr);
  // A layer of a tensor degree behind one of another.
  struct Step {
    plan::LayerStrategy strategy;
    int tensor_before = 1;
    auto operator<=>(const Step&) const = default;
  };
  UnitCosts routed(const dnn::LayerKind& kind, const Step& step, const Loads& loads);
  UnitCosts layer(const dnn::LayerKind& kind, int number, const Step& step);
  template <class OfDraw>
  void add_draws(UnitCosts& unit, OfDraw of_draw);
  void reshard(int from, int to, UnitCosts& unit);
  std::vector<CostedOperator> costed(const std::vector<dnn::Operator>& operators,
                                     const std::shared_ptr<const std::vector<double>>& loads);
  void fill_layers(JobCosts& costs);

  const Job& job_;
  const dnn::Transformer& dnn_;
  const dnn::Shard shard_;
  Coster coster_;
  const int expert_rank_, expert_group_;
  const std::vector<plan::Holding> holdings_;
  int last_tensor_ = 1;
  const double gradient_bytes_;
};

// Experts with a capacity have as many rows whatever the routing.
bool JobCoster::has_loads() const {
  return !job_.plan.routing.is_even() && dnn_.experts.capacity_factor == 0 && dnn_.is_moe();
}

JobCoster::Loads JobCoster::loads_of(int layer, int micro_batch) const {
  Loads result{shard_, nullptr};
  if (!has_loads()) return result;
  const auto ranks = plan::rank_loads(job_.plan.routing, dnn_.experts.count, job_.plan.expert,
                                      {layer, micro_batch, expert_group_});
  auto loads = std::make_shared<std::vector<double>>();
  for (const plan::RankLoad& rank : ranks) loads->push_back(rank.load);
  result.of_ranks = std::move(loads);
  result.shard.expert_load = ranks[static_cast<std::size_t>(expert_rank_)].load;
  result.shard.expert_imbalance = ranks[static_cast<std::size_t>(expert_rank_)].imbalance;
  return result;
}

std::vector<CostedOperator> JobCoster::costed(
    const std::vector<dnn::Operator>& operators,
    const std::shared_ptr<const std::vector<double>>& loads) {
  std::vector<CostedOperator> result = coster_.cost(operators);
  for (std::size_t i = 0; loads && i < operators.size(); ++i) {
    const bool is_to_experts = operators[i].collective == dnn::Collective::dispatch;
    if (is_to_experts || operators[i].collective == dnn::Collective::combine) {
      result[i].skew = Skew{loads, is_to_experts};
    }
  }
  return result;
}

UnitCosts JobCoster::unit(const dnn::LayerOperators& operators, double parameters, double experts,
                          const std::shared_ptr<const std::vector<double>>& loads) {
  UnitCosts unit;
  unit.forward = costed(operators.forward, loads);
  unit.backward = costed(operators.backward, loads);
  for (auto* pass : {&unit.forward, &unit.backward}) {
    if (!pass->empty()) pass->front().host += to_picoseconds(job_.stack.host_per_layer);
  }
  unit.held = {{{parameters * gradient_bytes_, parameters * shard_.bytes_per_element},
                {experts * gradient_bytes_, experts * shard_.bytes_per_element}}};
  if (plan::splits_backward(job_.plan)) split_backward(unit);
  return unit;
}

// What the ranks of a tensor group hold of their sequences changes where the degree does: with
// sequence parallelism each has as much before and after, and they exchange it; without, a rank of
// the larger degree has the sequences of all ranks whose groups are joined, which it gathers, and
// of a smaller one those that it keeps.
void JobCoster::reshard(int from, int to, UnitCosts& unit) {
  if (from == to) return;
  const int wide = std::max(from, to), narrow = std::min(from, to);
  const double whole = static_cast<double>(shard_.sequence) *
                       static_cast<double>(shard_.micro_batch) * static_cast<double>(dnn_.hidden) *
                       shard_.bytes_per_element;
  CostedOperator o;
  o.name = "reshard";
  o.category = Category::exposed_tensor;
  o.part = {wide / narrow, narrow};
  o.host = to_picoseconds(job_.stack.host_per_operator);
  o.collective = collective::Operation::all_to_all;
  o.size = Bytes(whole / shard_.tensor);
  if (!job_.plan.sequence_parallel) {
    o.collective = collective::Operation::all_gather;
    o.size = Bytes(whole * wide / shard_.tensor);
  }
  const bool is_both_ways = job_.plan.sequence_parallel;
  if (is_both_ways || from < to) unit.forward.insert(unit.forward.begin(), o);
  if (!is_both_ways && from < to) return;
  unit.backward.push_back(o);
  if (plan::splits_backward(job_.plan)) unit.backward_input.push_back(o);
}

UnitCosts JobCoster::routed(const dnn::LayerKind& kind, const Step& step, const Loads& loads) {
  const dnn::Shard shard = plan::shard_of(loads.shard, step.strategy);
  const dnn::Recompute recompute = step.strategy.recompute;
  const auto parameters = dnn::shard_parameters(dnn_, shard, job_.stack, kind);
  UnitCosts result = unit(dnn::layer_operators(dnn_, shard, job_.stack, recompute, kind),
                          parameters.layer, parameters.experts, loads.of_ranks);
  result.activations =
      dnn::activation_bytes(dnn_, shard, job_.stack, recompute, kind).per_layer.value();
  return result;
}

UnitCosts JobCoster::layer(const dnn::LayerKind& kind, int number, const Step& step) {
  const bool is_drawn =
      has_loads() && kind.is_moe && job_.plan.routing.draw == plan::Routing::Draw::per_micro_batch;
  UnitCosts result = routed(kind, step, is_drawn ? Loads{shard_, nullptr} : loads_of(number));
  if (is_drawn) {
    add_draws(result, [&](int draw) { return routed(kind, step, loads_of(number, draw)); });
  }
  result.holding = plan::holding_of(holdings_, step.strategy);
  if (step.strategy.tensor < shard_.tensor) {
    for (const auto pass : passes) {
      for (CostedOperator& o : result.*pass) {
        if (o.collective && o.group == dnn::RankGroup::tensor) o.part = {step.strategy.tensor, 1};
      }
    }
  }
  reshard(step.tensor_before, step.strategy.tensor, result);
  return result;
}

// `of_draw(micro-batch)` gives the same operators, as long as that micro-batch makes them.
template <class OfDraw>
void JobCoster::add_draws(UnitCosts& unit, OfDraw of_draw) {
  std::vector<UnitCosts> drawn;
  for (int draw = 0; draw < job_.plan.micro_batches(); ++draw) drawn.push_back(of_draw(draw));
  for (const auto pass : passes) {
    for (std::size_t i = 0; i < (unit.*pass).size(); ++i) {
      std::vector<Variant> variants;
      std::vector<std::optional<Skew>> skews;
      for (const UnitCosts& one : drawn) {
        const CostedOperator& o = (one.*pass).at(i);
        variants.push_back({o.work, o.memory_rate, o.flops});
        skews.push_back(o.skew);
      }
      CostedOperator& o = (unit.*pass)[i];
      if (o.variants) continue;  // by lengths, which the routing does not change
      o.varies_by_routing = true;
      o.variants = std::make_shared<const std::vector<Variant>>(std::move(variants));
      o.skews = std::make_shared<const std::vector<std::optional<Skew>>>(std::move(skews));
    }
  }
}

// Once for each kind of layer and strategy, and for each layer where popularity is drawn for it.
void JobCoster::fill_layers(JobCosts& costs) {
  const dnn::LayerKinds kinds = dnn::layer_kinds(dnn_);
  const bool is_drawn =
      !job_.plan.routing.is_even() && job_.plan.routing.draw != plan::Routing::Draw::fixed;
  std::map<std::pair<std::size_t, Step>, std::size_t> known_units;
  Step step{plan::strategy_of(job_.plan, 0), shard_.tensor};
  for (int number = 0; number < dnn_.layers; ++number) {
    const std::size_t index = kinds.of_layer[static_cast<std::size_t>(number)];
    const dnn::LayerKind& kind = kinds.kinds[index];
    if (!job_.plan.cuts.empty()) step.strategy = plan::strategy_of(job_.plan, number);
    const auto [known, is_new] = known_units.try_emplace({index, step}, costs.layer_kinds.size());
    if (is_new || (is_drawn && kind.is_moe)) {
      known->second = costs.layer_kinds.size();
      costs.layer_kinds.push_back(layer(kind, number, step));
    }
    costs.kind_of_layer.push_back(known->second);
    step.tensor_before = step.strategy.tensor;
  }
  last_tensor_ = step.tensor_before;
}

JobCosts JobCoster::run() {
  JobCosts costs;
  fill_layers(costs);
  const auto parameters =
      dnn::shard_parameters(dnn_, shard_, job_.stack, dnn::prediction_kind(dnn_));
  costs.embedding = unit(dnn::embedding_operators(dnn_, shard_, job_.stack), parameters.embedding);
  costs.head = unit(dnn::head_operators(dnn_, shard_, job_.stack), parameters.head);
  reshard(last_tensor_, shard_.tensor, costs.head);
  costs.prediction_modules = dnn_.prediction_modules;
  if (dnn_.prediction_modules > 0) {
    const auto module = [&](const Loads& loads) {
      return unit(dnn::prediction_operators(dnn_, loads.shard, job_.stack, job_.plan.recompute),
                  parameters.layer + parameters.prediction, parameters.experts, loads.of_ranks);
    };
    const bool is_drawn =
        has_loads() && job_.plan.routing.draw == plan::Routing::Draw::per_micro_batch;
    costs.prediction = module(is_drawn ? Loads{shard_, nullptr} : loads_of(dnn_.layers));
    if (is_drawn) {
      add_draws(costs.prediction, [&](int draw) { return module(loads_of(dnn_.layers, draw)); });
    }
  }
  fill_boundary(job_, dnn_, shard_, costs);
  costs.extrapolated = coster_.extrapolated;
  return costs;
}

}  // namespace

JobCosts job_costs(const Job& job, const profile::Profile& profile, int expert_rank,
                   int expert_group) {
  if (const auto* timed_dnn = std::get_if<TimedDnn>(&job.dnn))
    return timed_costs(*timed_dnn, job.plan);
  return JobCoster(job, profile, expert_rank, expert_group).run();
}

}  // namespace sim::training
