// GEMMs with their collectives, point-wise passes.
#include "sim/dnn/operator_list.h"

#include <utility>

#include "sim/base/invariant.h"

namespace sim::dnn {
namespace {

Operator gemm_operator(std::string name, std::int64_t m, std::int64_t n, std::int64_t k,
                       GemmLayout layout, std::int64_t batch) {
  Operator o;
  o.kind = OperatorKind::gemm;
  o.name = std::move(name);
  o.m = m;
  o.n = n;
  o.k = k;
  o.batch = batch;
  o.layout = layout;
  o.flops = Flops(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                  static_cast<double>(batch));
  return o;
}

Bytes gemm_bytes(const Operator& o, double element) {
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n),
             k = static_cast<double>(o.k);
  return Bytes(element * (m * k + k * n + m * n) * static_cast<double>(o.batch));
}

// Rows stay m in every layout: C is rows x outputs, rows x inputs, or outputs x inputs.
Operator grouped_operator(std::string name, const GroupedLinear& linear, GemmLayout layout) {
  const bool is_input = layout == GemmLayout::input_gradient;
  Operator o =
      gemm_operator(std::move(name), linear.rows, is_input ? linear.inputs : linear.outputs,
                    is_input ? linear.outputs : linear.inputs, layout, 1);
  o.kind = OperatorKind::grouped_gemm;
  o.groups = linear.groups;
  o.imbalance = linear.imbalance;
  return o;
}

// Forward and input gradient.
Bytes grouped_bytes(const Operator& o, double element) {
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n),
             k = static_cast<double>(o.k);
  return Bytes(element * (m * k + static_cast<double>(o.groups) * k * n + m * n));
}

int ranks_of(RankGroup group, const Shard& shard) {
  switch (group) {
    case RankGroup::tensor:
      return shard.tensor;
    case RankGroup::context:
      return shard.context;
    case RankGroup::expert:
      return shard.expert;
    case RankGroup::expert_tensor:
      return shard.expert_tensor;
  }
  bug("unknown rank group");
}

}  // namespace

OperatorList::OperatorList(const Transformer& dnn, const Shard& shard, const SoftwareStack& stack)
    : dnn(dnn), shard(shard), stack(stack), sizes(dnn, shard, stack) {}

void OperatorList::gemm(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
                        GemmLayout layout, std::int64_t batch) {
  Operator o = gemm_operator(name, m, n, k, layout, batch);
  o.bytes = gemm_bytes(o, sizes.element);
  push(std::move(o));
}

void OperatorList::pointwise(const Pointwise& work) {
  const double bytes = work.elements * (work.passes * sizes.element + work.mask_bytes);
  traffic(work.name, work.elements, bytes * stack.pointwise_traffic,
          stack.fused_pointwise ? work.fused_kernels : work.eager_kernels);
}

void OperatorList::traffic(const std::string& name, double elements, double bytes, int kernels) {
  Operator o;
  o.name = name;
  o.elements = elements;
  o.bytes = Bytes(bytes);
  o.kernels = kernels;
  push(std::move(o));
}

void OperatorList::collective(const std::string& name, Collective kind, double bytes,
                              int overlapped) {
  collective(RankGroup::tensor, name, kind, bytes, overlapped);
}

void OperatorList::collective(RankGroup group, const std::string& name, Collective kind,
                              double bytes, int overlapped) {
  if (ranks_of(group, shard) == 1) return;
  Operator o;
  o.kind = OperatorKind::collective;
  o.name = name;
  o.collective = kind;
  o.group = group;
  o.bytes = Bytes(bytes);
  o.overlapped = overlapped;
  push(std::move(o));
}

// Source: NVIDIA, "Transformer Engine", overlap of products and communication by user buffers, ring
// exchange. Rows that do not divide stay whole.
bool OperatorList::is_split(std::int64_t rows) const {
  return stack.splits_tensor_products && shard.tensor > 1 && rows % shard.tensor == 0;
}

// A rank begins with its own rows and computes with those that came last while the next come.
void OperatorList::gathered_gemm(const std::string& name, const std::string& gather, std::int64_t m,
                                 std::int64_t n, std::int64_t k, GemmLayout layout) {
  const double bytes = static_cast<double>(m) * static_cast<double>(k) * sizes.element;
  if (!is_split(m)) {
    collective(gather, Collective::all_gather, bytes);
    return gemm(name, m, n, k, layout);
  }
  for (int i = 0; i < shard.tensor; ++i) {
    if (i + 1 < shard.tensor) {
      collective(gather, Collective::send_receive, bytes / shard.tensor, 1);
    }
    gemm(name, m / shard.tensor, n, k, layout);
  }
}

// The rows of others first: each is sent beside the next. What has come is added up at the end.
void OperatorList::scattered_gemm(const std::string& name, const std::string& scatter,
                                  std::int64_t m, std::int64_t n, std::int64_t k,
                                  GemmLayout layout) {
  const double bytes = static_cast<double>(m) * static_cast<double>(n) * sizes.element;
  if (!is_split(m)) {
    gemm(name, m, n, k, layout);
    return collective(scatter, Collective::reduce_scatter, bytes);
  }
  const std::int64_t rows = m / shard.tensor;
  for (int i = 0; i < shard.tensor; ++i) {
    if (i > 0) collective(scatter, Collective::send_receive, bytes / shard.tensor, 1);
    gemm(name, rows, n, k, layout);
  }
  const double elements = static_cast<double>(rows) * static_cast<double>(n);
  traffic(scatter + " sum", elements, bytes + elements * sizes.element);
}

std::int64_t OperatorList::rows_of(const Linear& linear) const {
  return linear.rows > 0 ? linear.rows : sizes.tokens;
}

void OperatorList::forward(const Linear& linear) {
  const std::int64_t rows = rows_of(linear);
  const auto tokens = static_cast<double>(rows);
  if (linear.split == Linear::Split::columns && sizes.is_sequence_parallel) {
    gathered_gemm(linear.name, linear.name + " input all-gather", rows, linear.outputs,
                  linear.inputs, GemmLayout::forward);
  } else if (linear.split == Linear::Split::rows && sizes.is_sequence_parallel) {
    scattered_gemm(linear.name, linear.name + " reduce-scatter", rows, linear.outputs,
                   linear.inputs, GemmLayout::forward);
  } else {
    gemm(linear.name, rows, linear.outputs, linear.inputs, GemmLayout::forward);
    if (linear.split == Linear::Split::rows) {
      collective(linear.name + " all-reduce", Collective::all_reduce,
                 tokens * static_cast<double>(linear.outputs) * sizes.element);
    }
  }
  if (linear.has_bias && !stack.fused_pointwise) {
    const double elements = (linear.split == Linear::Split::rows ? sizes.split_tokens : tokens) *
                            static_cast<double>(linear.outputs);
    traffic(linear.name + " bias", elements, 2 * elements * sizes.element);
  }
}

// Row-parallel: the gradient of the scattered output is gathered first. Column-parallel: the saved
// input is gathered again beside the input gradient, whose reduction runs beside the weight
// gradient where the stack overlaps.
// Source: Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models",
// 2022, section 4.2.2, and Megatron-LM, megatron/core/tensor_parallel/layers.py.
void OperatorList::backward(const Linear& linear) {
  const auto tokens = static_cast<double>(rows_of(linear));
  const double input_bytes = tokens * static_cast<double>(linear.inputs) * sizes.element;
  const bool is_row = linear.split == Linear::Split::rows;
  const bool is_column = linear.split == Linear::Split::columns;
  if (linear.has_bias) {
    const double elements =
        (is_row ? sizes.split_tokens : tokens) * static_cast<double>(linear.outputs);
    traffic(linear.name + " bias gradient", elements, elements * sizes.element);
  }
  if (sizes.is_sequence_parallel && is_column) {
    collective(linear.name + " saved input all-gather", Collective::all_gather, input_bytes,
               stack.overlaps_tensor ? 1 : 0);
  }
  if (sizes.is_sequence_parallel && is_row) {
    gathered_gemm(linear.name + " input gradient", linear.name + " gradient all-gather",
                  rows_of(linear), linear.inputs, linear.outputs, GemmLayout::input_gradient);
  } else {
    gemm(linear.name + " input gradient", rows_of(linear), linear.inputs, linear.outputs,
         GemmLayout::input_gradient);
  }
  if (is_column && sizes.is_sequence_parallel) {
    collective(linear.name + " input gradient reduce-scatter", Collective::reduce_scatter,
               input_bytes, stack.overlaps_tensor ? 1 : 0);
  } else if (is_column) {
    collective(linear.name + " input gradient all-reduce", Collective::all_reduce, input_bytes,
               stack.overlaps_tensor ? 1 : 0);
  }
  weight_gradient(linear);
}

void OperatorList::forward(const GroupedLinear& linear) {
  Operator o = grouped_operator(linear.name, linear, GemmLayout::forward);
  o.bytes = grouped_bytes(o, sizes.element);
  push(std::move(o));
  if (linear.has_bias && !stack.fused_pointwise) {
    const double elements = static_cast<double>(linear.rows) * static_cast<double>(linear.outputs);
    traffic(linear.name + " bias", elements, 2 * elements * sizes.element);
  }
}

void OperatorList::backward(const GroupedLinear& linear) {
  if (linear.has_bias) {
    const double elements = static_cast<double>(linear.rows) * static_cast<double>(linear.outputs);
    traffic(linear.name + " bias gradient", elements, elements * sizes.element);
  }
  Operator o =
      grouped_operator(linear.name + " input gradient", linear, GemmLayout::input_gradient);
  o.bytes = grouped_bytes(o, sizes.element);
  push(std::move(o));
  weight_gradient(linear);
}

// What is gathered for the product is kept as the sequence-parallel rank holds it.
void OperatorList::weight_gradient(const Linear& linear) {
  const std::int64_t rows = rows_of(linear);
  const auto tokens = static_cast<double>(rows);
  const auto inputs = static_cast<double>(linear.inputs),
             outputs = static_cast<double>(linear.outputs);
  Operator o = gemm_operator(linear.name, linear.outputs, linear.inputs, rows,
                             GemmLayout::weight_gradient, 1);
  o.bytes = Bytes(sizes.element * tokens * (outputs + inputs));
  o.kept_elements =
      (linear.split == Linear::Split::columns ? sizes.split_tokens : tokens) * inputs +
      (linear.split == Linear::Split::rows ? sizes.split_tokens : tokens) * outputs;
  push_weight_gradient(std::move(o), outputs * inputs);
}

void OperatorList::weight_gradient(const GroupedLinear& linear) {
  const auto inputs = static_cast<double>(linear.inputs),
             outputs = static_cast<double>(linear.outputs);
  Operator o = grouped_operator(linear.name, linear, GemmLayout::weight_gradient);
  o.kept_elements = static_cast<double>(linear.rows) * (outputs + inputs);
  o.bytes = Bytes(sizes.element * o.kept_elements);
  push_weight_gradient(std::move(o), static_cast<double>(linear.groups) * outputs * inputs);
}

void OperatorList::push_weight_gradient(Operator o, double elements) {
  const std::string name = o.name;
  o.name += " weight gradient";
  o.accumulates_fp32 = stack.fused_gradient_accumulation && stack.gradient_fp32;
  o.bytes += Bytes((o.accumulates_fp32 ? 8 : sizes.element) * elements);
  o.is_weight_gradient = true;
  push(std::move(o));
  if (stack.fused_gradient_accumulation) return;
  const double accumulator = stack.gradient_fp32 ? 4 : sizes.element;
  traffic(name + " gradient accumulation", elements, elements * (sizes.element + 2 * accumulator));
  operators_.back().is_weight_gradient = true;
}

void OperatorList::append(const std::vector<Operator>& operators, bool is_recompute) {
  for (Operator o : operators) {
    o.is_recompute = is_recompute;
    push(std::move(o));
  }
}

}  // namespace sim::dnn
