// Asks the profile for every operator once.
#include "sim/training/costs.h"

#include <algorithm>
#include <cmath>

#include "sim/plan/schedule.h"

namespace sim::training {

namespace profile = calibrate::profile;

namespace {

// Share of the multiprocessors that a memory-bound kernel needs to reach its rate.
// Assumed: half; such kernels keep their speed while a collective holds a tenth.
constexpr double memory_bound_multiprocessors = 0.5;

profile::Layout layout_of(dnn::GemmLayout layout) {
  switch (layout) {
    case dnn::GemmLayout::forward:
      return profile::Layout::forward;
    case dnn::GemmLayout::input_gradient:
      return profile::Layout::input_gradient;
    case dnn::GemmLayout::weight_gradient:
      return profile::Layout::weight_gradient;
  }
  bug("unknown gemm layout");
}

profile::AttentionKernel kernel_of(dnn::SoftwareStack::Attention attention) {
  using Attention = dnn::SoftwareStack::Attention;
  switch (attention) {
    case Attention::flash2:
      return profile::AttentionKernel::flash2;
    case Attention::flash3:
      return profile::AttentionKernel::flash3;
    case Attention::cudnn:
      return profile::AttentionKernel::cudnn;
    case Attention::triton:
      return profile::AttentionKernel::triton;
    case Attention::unfused:
      break;
  }
  bug("an unfused attention has no kernel");
}

collective::Operation operation_of(dnn::Collective collective) {
  switch (collective) {
    case dnn::Collective::all_reduce:
      return collective::Operation::all_reduce;
    case dnn::Collective::all_gather:
      return collective::Operation::all_gather;
    case dnn::Collective::reduce_scatter:
      return collective::Operation::reduce_scatter;
    case dnn::Collective::all_to_all:
      return collective::Operation::all_to_all;
    case dnn::Collective::send_receive:
      return collective::Operation::send_receive;
    case dnn::Collective::none:
      break;
  }
  bug("a collective operator without a collective");
}

class Coster {
 public:
  Coster(const Job& job, const profile::Profile& profile)
      : job_(job), profile_(profile), memory_capacity_(memory_capacity(profile)) {}

  std::vector<CostedOperator> cost(const std::vector<dnn::Operator>& operators) {
    std::vector<CostedOperator> result;
    for (const dnn::Operator& o : operators) result.push_back(cost(o));
    return result;
  }
  CostedOperator cost(const dnn::Operator& o);
  std::vector<std::string> extrapolated;

 private:
  profile::Answer answer(const dnn::Operator& o, CostedOperator& costed) const;

  const Job& job_;
  const profile::Profile& profile_;
  BytesPerSecond memory_capacity_;
};

profile::Answer Coster::answer(const dnn::Operator& o, CostedOperator& costed) const {
  switch (o.kind) {
    case dnn::OperatorKind::gemm:
      costed.family = CostedOperator::Family::gemm;
      return profile_.gemm(
          {o.m, o.n, o.k, o.batch, job_.precision, layout_of(o.layout), o.accumulates_fp32});
    case dnn::OperatorKind::grouped_gemm:
      bug("experts are refused before they are costed");
    case dnn::OperatorKind::attention:
      costed.family = CostedOperator::Family::attention;
      return profile_.attention({kernel_of(job_.stack.attention), o.sequences, o.query_heads,
                                 o.kv_heads, o.query_length, o.key_length, o.head_size, o.causal,
                                 o.is_backward, job_.precision});
    case dnn::OperatorKind::memory_bound:
      costed.family = CostedOperator::Family::memory;
      return profile_.memory({o.bytes.value()});
    case dnn::OperatorKind::collective:
      break;
  }
  bug("a collective is not a kernel");
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
    costed.category = Category::exposed_tensor;
    costed.collective = operation_of(o.collective);
    costed.size = o.bytes;
    costed.is_overlapped = o.is_overlapped && job_.stack.overlaps_tensor;
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
  if (costed.work > 0) {
    const double rate = std::min(o.bytes.value() / a.duration.value(), memory_capacity_.value());
    costed.memory_rate = to_bytes_per_second(BytesPerSecond(rate));
  }
  return costed;
}

// With its weight gradients elsewhere, nothing is left that a collective could run beside.
void split_backward(UnitCosts& unit) {
  for (const CostedOperator& o : unit.backward) {
    if (o.is_weight_gradient) {
      unit.backward_weight.push_back(o);
      continue;
    }
    unit.backward_input.push_back(o);
    unit.backward_input.back().is_overlapped = false;
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
  costs.layer.forward = {timed("layer forward", dnn.forward)};
  costs.layer.backward = {timed("layer backward", dnn.backward)};
  costs.layer.gradient_bytes = costs.layer.parameter_bytes = dnn.parameters.value();
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
  split(costs.layer, dnn.backward_weight);
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
  return {job.plan.sequence, job.plan.micro_batch, job.plan.tensor,
          job.plan.sequence_parallel && job.plan.tensor > 1, bytes_per_element(job.precision)};
}

BytesPerSecond memory_capacity(const profile::Profile& profile) {
  constexpr double long_stream = 4e9;
  const profile::Answer answer = profile.memory({long_stream});
  if (answer.duration.value() <= 0) return profile.device().memory_rate;
  return BytesPerSecond(long_stream / answer.duration.value());
}

CostedOperator optimizer_cost(const Job& job, const profile::Profile& profile, double parameters) {
  CostedOperator total = timed("optimizer", job.stack.optimizer_overhead);
  if (std::holds_alternative<dnn::Transformer>(job.dnn)) {
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

JobCosts job_costs(const Job& job, const profile::Profile& profile) {
  if (const auto* timed_dnn = std::get_if<TimedDnn>(&job.dnn)) return timed_costs(*timed_dnn);
  const auto& dnn = std::get<dnn::Transformer>(job.dnn);
  const dnn::Shard shard = shard_of(job);
  Coster coster(job, profile);
  JobCosts costs;
  const auto fill = [&](const dnn::LayerOperators& operators, double parameters) {
    UnitCosts unit;
    unit.forward = coster.cost(operators.forward);
    unit.backward = coster.cost(operators.backward);
    if (!unit.forward.empty())
      unit.forward.front().host += to_picoseconds(job.stack.host_per_layer);
    if (!unit.backward.empty()) {
      unit.backward.front().host += to_picoseconds(job.stack.host_per_layer);
    }
    unit.gradient_bytes = parameters * (job.stack.gradient_fp32 ? 4 : shard.bytes_per_element);
    unit.parameter_bytes = parameters * shard.bytes_per_element;
    if (plan::splits_backward(job.plan)) split_backward(unit);
    return unit;
  };
  const dnn::ShardParameters parameters = dnn::shard_parameters(dnn, shard, job.stack);
  costs.layer =
      fill(dnn::layer_operators(dnn, shard, job.stack, job.plan.recompute), parameters.layer);
  costs.embedding = fill(dnn::embedding_operators(dnn, shard, job.stack), parameters.embedding);
  costs.head = fill(dnn::head_operators(dnn, shard, job.stack), parameters.head);
  const double tokens = static_cast<double>(shard.sequence) *
                        static_cast<double>(shard.micro_batch) /
                        (shard.sequence_parallel ? shard.tensor : 1);
  costs.boundary = Bytes(tokens * static_cast<double>(dnn.hidden) * shard.bytes_per_element);
  if (job.stack.pipeline_scatters && shard.tensor > 1 && !shard.sequence_parallel) {
    costs.gathered = costs.boundary;
    costs.boundary = costs.boundary / shard.tensor;
  }
  costs.extrapolated = coster.extrapolated;
  return costs;
}

}  // namespace sim::training
