// Operators as questions to a profile.
#include "sim/training/coster.h"

#include <algorithm>
#include <cmath>

#include "sim/training/cost_names.h"

namespace sim::training {

namespace profile = calibrate::profile;

namespace {

// Share of the multiprocessors that a memory-bound kernel needs to reach its rate.
// Assumed: half; such kernels keep their speed while a collective holds a tenth.
constexpr double memory_bound_multiprocessors = 0.5;

}  // namespace

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

CostedOperator timed(std::string name, Seconds duration) {
  CostedOperator costed;
  costed.name = std::move(name);
  costed.work = to_picoseconds(duration);
  costed.multiprocessors = multiprocessors_one;
  return costed;
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

}  // namespace sim::training
