// Asks the profile for every operator once.
#include "sim/training/costs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/plan/schedule.h"
#include "sim/training/cost_names.h"

namespace sim::training {

namespace profile = calibrate::profile;

namespace {

// Share of the multiprocessors that a memory-bound kernel needs to reach its rate.
// Assumed: half; such kernels keep their speed while a collective holds a tenth.
constexpr double memory_bound_multiprocessors = 0.5;

class Coster {
 public:
  Coster(const Job& job, const profile::Profile& profile, PackedLengths lengths = {})
      : job_(job),
        profile_(profile),
        memory_capacity_(memory_capacity(profile)),
        lengths_(std::move(lengths)) {}

  std::vector<CostedOperator> cost(const std::vector<dnn::Operator>& operators) {
    std::vector<CostedOperator> result;
    for (const dnn::Operator& o : operators) result.push_back(cost(o));
    return result;
  }
  CostedOperator cost(const dnn::Operator& o);
  std::vector<std::string> extrapolated;

 private:
  profile::Answer answer(const dnn::Operator& o, CostedOperator& costed) const;
  profile::Answer attention(const dnn::Operator& o, double length) const;
  std::int64_t memory_rate(const dnn::Operator& o, const profile::Answer& answer) const;
  void add_packed(const dnn::Operator& o, CostedOperator& costed) const;

  const Job& job_;
  const profile::Profile& profile_;
  BytesPerSecond memory_capacity_;
  const PackedLengths lengths_;
};

profile::Answer Coster::answer(const dnn::Operator& o, CostedOperator& costed) const {
  switch (o.kind) {
    case dnn::OperatorKind::gemm:
      costed.family = CostedOperator::Family::gemm;
      return profile_.gemm(
          {o.m, o.n, o.k, o.batch, job_.precision, layout_of(o.layout), o.accumulates_fp32});
    case dnn::OperatorKind::grouped_gemm:
      costed.family = CostedOperator::Family::gemm;
      return profile_.grouped_gemm({.groups = o.groups,
                                    .rows = o.m,
                                    .n = o.n,
                                    .k = o.k,
                                    .imbalance = o.imbalance,
                                    .precision = job_.precision,
                                    .layout = layout_of(o.layout),
                                    .accumulates_fp32 = o.accumulates_fp32});
    case dnn::OperatorKind::attention:
      costed.family = CostedOperator::Family::attention;
      return attention(o, lengths_.mean);
    case dnn::OperatorKind::memory_bound:
      costed.family = CostedOperator::Family::memory;
      return profile_.memory({o.bytes.value()});
    case dnn::OperatorKind::collective:
      break;
  }
  bug("a collective is not a kernel");
}

// As long documents, of which so many more are in a sequence: what is computed is shortened by as
// much. What rounding to whole tokens and documents adds is taken off again.
profile::Answer Coster::attention(const dnn::Operator& o, double length) const {
  const auto shortened = [&](std::int64_t tokens) {
    return std::max<std::int64_t>(std::llround(static_cast<double>(tokens) * length), 1);
  };
  const auto documents = std::llround(static_cast<double>(o.sequences) / length);
  const std::int64_t queries = shortened(o.query_length), keys = shortened(o.key_length);
  profile::Answer answer = profile_.attention(
      {kernel_of(job_.stack.attention), documents, o.query_heads, o.kv_heads, queries, keys,
       o.head_size, o.causal, o.is_backward, job_.precision, o.value_head_size});
  const auto pairs = [](std::int64_t count, std::int64_t of_queries, std::int64_t of_keys) {
    return static_cast<double>(count) * static_cast<double>(of_queries) *
           static_cast<double>(of_keys);
  };
  if (length < 1) {
    answer.duration = answer.duration * (length * pairs(o.sequences, o.query_length, o.key_length) /
                                         pairs(documents, queries, keys));
  }
  return answer;
}

std::int64_t Coster::memory_rate(const dnn::Operator& o, const profile::Answer& answer) const {
  if (to_picoseconds(answer.duration) <= 0) return 0;
  return to_bytes_per_second(BytesPerSecond(
      std::min(o.bytes.value() / answer.duration.value(), memory_capacity_.value())));
}

void Coster::add_packed(const dnn::Operator& o, CostedOperator& costed) const {
  costed.flops *= lengths_.mean;
  if (lengths_.of_draws.size() < 2) return;
  std::vector<Variant> variants;
  for (const double length : lengths_.of_draws) {
    const profile::Answer a = attention(o, length);
    variants.push_back({to_picoseconds(a.duration), memory_rate(o, a), o.flops.value() * length});
  }
  costed.variants = std::make_shared<const std::vector<Variant>>(std::move(variants));
}

CostedOperator Coster::cost(const dnn::Operator& o) {
  CostedOperator costed;
  costed.name = o.name;
  costed.category = o.is_recompute ? Category::recompute : Category::compute;
  costed.kernels = o.kernels;
  costed.host = to_picoseconds(job_.stack.host_per_operator * o.kernels);
  costed.flops = o.flops.value();
  costed.is_weight_gradient = o.is_weight_gradient;
  if (o.kind == dnn::OperatorKind::collective) {
    costed.category = exposed(o.group);
    costed.collective = operation_of(o.collective);
    costed.group = o.group;
    costed.size = o.bytes;
    costed.overlapped = o.overlapped;
    return costed;
  }
  const profile::Answer a = answer(o, costed);
  costed.work = to_picoseconds(a.duration);
  costed.relative_p90 = a.relative_p90;
  if (a.extrapolated &&
      std::find(extrapolated.begin(), extrapolated.end(), o.name) == extrapolated.end()) {
    extrapolated.push_back(o.name);
  }
  const bool is_memory = o.kind == dnn::OperatorKind::memory_bound;
  costed.multiprocessors = std::llround(static_cast<double>(multiprocessors_one) *
                                        (is_memory ? memory_bound_multiprocessors : 1.0));
  costed.memory_rate = memory_rate(o, a);
  if (o.kind == dnn::OperatorKind::attention) add_packed(o, costed);
  return costed;
}

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

CostedOperator timed(std::string name, Seconds duration) {
  CostedOperator costed;
  costed.name = std::move(name);
  costed.work = to_picoseconds(duration);
  costed.multiprocessors = multiprocessors_one;
  return costed;
}

JobCosts timed_costs(const TimedDnn& dnn) {
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

PackedLengths packed_lengths(const plan::Plan& plan) {
  PackedLengths lengths;
  if (!plan.packing) return lengths;
  const plan::PackedBatch batch = plan::packed_batch(plan);
  const auto sequence = static_cast<double>(plan.sequence);
  const double longest = static_cast<double>(plan.micro_batch) * sequence * sequence;
  for (const double sum : batch.sums) lengths.of_draws.push_back(sum / longest);
  lengths.mean = batch.mean / longest;
  return lengths;
}

BytesPerSecond memory_capacity(const profile::Profile& profile) {
  constexpr double long_stream = 4e9;
  const profile::Answer answer = profile.memory({long_stream});
  if (answer.duration.value() <= 0) return profile.device().memory_rate;
  return BytesPerSecond(long_stream / answer.duration.value());
}

CostedOperator optimizer_cost(const Job& job, const profile::Profile& profile, double parameters) {
  CostedOperator total = timed("optimizer", job.stack.optimizer_overhead);
  if (std::holds_alternative<dnn::Transformer>(job.dnn) && parameters > 0) {
    Coster coster(job, profile);
    double bytes = 0;
    for (const dnn::Operator& o : dnn::optimizer_operators(parameters, job.stack)) {
      total.work += coster.cost(o).work;
      bytes += o.bytes.value();
    }
    if (total.work > 0) {
      total.memory_rate = to_bytes_per_second(BytesPerSecond(std::min(
          bytes / (static_cast<double>(total.work) * 1e-12), memory_capacity(profile).value())));
    }
  }
  total.category = Category::optimizer;
  total.family = CostedOperator::Family::memory;
  return total;
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

class JobCoster {
 public:
  JobCoster(const Job& job, const profile::Profile& profile, int expert_rank)
      : job_(job),
        dnn_(std::get<dnn::Transformer>(job.dnn)),
        shard_(shard_of(job)),
        coster_(job, profile, packed_lengths(job.plan)),
        expert_rank_(expert_rank),
        gradient_bytes_(job.stack.gradient_fp32 ? 4 : shard_.bytes_per_element) {}

  JobCosts run();

 private:
  struct Loads {  // of a layer's experts
    dnn::Shard shard;
    std::shared_ptr<const std::vector<double>> of_ranks;  // none: even
  };
  Loads loads_of(int layer) const;
  UnitCosts unit(const dnn::LayerOperators& operators, double parameters, double experts = 0,
                 const std::shared_ptr<const std::vector<double>>& loads = nullptr);
  std::vector<CostedOperator> costed(const std::vector<dnn::Operator>& operators,
                                     const std::shared_ptr<const std::vector<double>>& loads);
  void fill_layers(JobCosts& costs);

  const Job& job_;
  const dnn::Transformer& dnn_;
  const dnn::Shard shard_;
  Coster coster_;
  const int expert_rank_;
  const double gradient_bytes_;
};

// Experts with a capacity have as many rows whatever the routing.
JobCoster::Loads JobCoster::loads_of(int layer) const {
  Loads result{shard_, nullptr};
  const plan::Routing& routing = job_.plan.routing;
  if (routing.is_even() || dnn_.experts.capacity_factor > 0 || !dnn_.is_moe()) return result;
  const auto ranks = plan::rank_loads(routing, dnn_.experts.count, job_.plan.expert, layer);
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

// Once for each kind of layer, and for each layer where popularity is drawn for it.
void JobCoster::fill_layers(JobCosts& costs) {
  const dnn::LayerKinds kinds = dnn::layer_kinds(dnn_);
  const bool is_drawn =
      !job_.plan.routing.is_even() && job_.plan.routing.draw == plan::Routing::Draw::per_layer;
  std::map<std::size_t, std::size_t> unit_of_kind;
  for (int layer = 0; layer < dnn_.layers; ++layer) {
    const std::size_t index = kinds.of_layer[static_cast<std::size_t>(layer)];
    const dnn::LayerKind& kind = kinds.kinds[index];
    const auto [known, is_new] = unit_of_kind.try_emplace(index, costs.layer_kinds.size());
    if (is_new || (is_drawn && kind.is_moe)) {
      known->second = costs.layer_kinds.size();
      const Loads loads = loads_of(layer);
      const auto parameters = dnn::shard_parameters(dnn_, loads.shard, job_.stack, kind);
      costs.layer_kinds.push_back(
          unit(dnn::layer_operators(dnn_, loads.shard, job_.stack, job_.plan.recompute, kind),
               parameters.layer, parameters.experts, loads.of_ranks));
      costs.layer_kinds.back().activations =
          dnn::activation_bytes(dnn_, loads.shard, job_.stack, job_.plan.recompute, kind)
              .per_layer.value();
    }
    costs.kind_of_layer.push_back(known->second);
  }
}

JobCosts JobCoster::run() {
  JobCosts costs;
  fill_layers(costs);
  const auto parameters =
      dnn::shard_parameters(dnn_, shard_, job_.stack, dnn::prediction_kind(dnn_));
  costs.embedding = unit(dnn::embedding_operators(dnn_, shard_, job_.stack), parameters.embedding);
  costs.head = unit(dnn::head_operators(dnn_, shard_, job_.stack), parameters.head);
  costs.prediction_modules = dnn_.prediction_modules;
  if (dnn_.prediction_modules > 0) {
    const Loads loads = loads_of(dnn_.layers);
    costs.prediction =
        unit(dnn::prediction_operators(dnn_, loads.shard, job_.stack, job_.plan.recompute),
             parameters.layer + parameters.prediction, parameters.experts, loads.of_ranks);
  }
  fill_boundary(job_, dnn_, shard_, costs);
  costs.extrapolated = coster_.extrapolated;
  return costs;
}

}  // namespace

JobCosts job_costs(const Job& job, const profile::Profile& profile, int expert_rank) {
  if (const auto* timed_dnn = std::get_if<TimedDnn>(&job.dnn)) return timed_costs(*timed_dnn);
  return JobCoster(job, profile, expert_rank).run();
}

}  // namespace sim::training
