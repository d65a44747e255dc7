// Final norm, logits over a split vocabulary, cross entropy.
#include "sim/dnn/operator_list.h"

namespace sim::dnn {
namespace {

// Assumed: of the bytes moved for each logit, two thirds are the loss (cast, maximum, exponents and
// their sum), one third its gradient. 18 bytes: 2 | 4, 4, 2 in front; 4 | 2 behind.
constexpr double forward_share = 2.0 / 3;

constexpr double statistic_bytes = 4;  // fp32, for each token

Linear projection(const OperatorList& list) {
  return {"output logits", list.dnn.embedding_width(), list.sizes.vocabulary,
          Linear::Split::columns, list.dnn.head_bias};
}

Linear narrowing(const Transformer& dnn) {
  return {"head projection", dnn.hidden, dnn.embedding_width(), Linear::Split::none, false};
}

double logits(const OperatorList& list) {
  return static_cast<double>(list.sizes.tokens) * static_cast<double>(list.sizes.vocabulary);
}

std::vector<Operator> forward(OperatorList list) {
  const Transformer& dnn = list.dnn;
  const double elements = list.sizes.split_tokens * static_cast<double>(dnn.hidden);
  const int eager_kernels = dnn.norm == Norm::rms_norm ? 6 : 1;
  if (dnn.final_norm) list.pointwise({"final norm", elements, 2, 0, 1, eager_kernels});
  if (dnn.embedding_width() != dnn.hidden) list.forward(narrowing(dnn));
  list.forward(projection(list));
  const auto tokens = static_cast<double>(list.sizes.tokens);
  list.collective("logit maximum all-reduce", Collective::all_reduce, tokens * statistic_bytes);
  list.traffic("cross entropy", logits(list), logits(list) * list.stack.logit_bytes * forward_share,
               list.stack.fused_pointwise ? 6 : 12);
  // The target's logit and the sum of exponents.
  list.collective("exponent sum all-reduce", Collective::all_reduce, 2 * tokens * statistic_bytes);
  return list.take();
}

std::vector<Operator> backward(OperatorList list) {
  const Transformer& dnn = list.dnn;
  const double elements = list.sizes.split_tokens * static_cast<double>(dnn.hidden);
  list.traffic("cross entropy gradient", logits(list),
               logits(list) * list.stack.logit_bytes * (1 - forward_share),
               list.stack.fused_pointwise ? 2 : 6);
  list.backward(projection(list));
  if (dnn.embedding_width() != dnn.hidden) list.backward(narrowing(dnn));
  const int eager_kernels = dnn.norm == Norm::rms_norm ? 13 : 3;
  if (dnn.final_norm) list.pointwise({"final norm gradient", elements, 3, 0, 2, eager_kernels});
  return list.take();
}

}  // namespace

LayerOperators head_operators(const Transformer& dnn, const Shard& shard,
                              const SoftwareStack& stack) {
  const OperatorList list(dnn, shard, stack);
  return {forward(list), backward(list)};
}

}  // namespace sim::dnn
