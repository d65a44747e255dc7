// The input embedding: rows of a table split over the tensor group by vocabulary.
#include "sim/dnn/operator_list.h"

namespace sim::dnn {
namespace {

struct EmbeddingSizes {
  explicit EmbeddingSizes(const OperatorList& list)
      : row_elements(static_cast<double>(list.sizes.tokens) *
                     static_cast<double>(list.dnn.embedding_width())),
        whole_elements(static_cast<double>(list.sizes.tokens) *
                       static_cast<double>(list.dnn.hidden)),
        split_elements(list.sizes.split_tokens * static_cast<double>(list.dnn.hidden)),
        table_elements(static_cast<double>(list.sizes.vocabulary) *
                       static_cast<double>(list.dnn.embedding_width())) {}
  double row_elements, whole_elements, split_elements, table_elements;
};

Linear input_projection(const Transformer& dnn) {
  return {"embedding projection", dnn.embedding_width(), dnn.hidden, Linear::Split::none, false};
}

// Every rank looks up all tokens, zeroes where it lacks the row, and the sum over the ranks is the
// embedding. Learned positions are added to whole sequences, so their sum is not scattered.
std::vector<Operator> forward(OperatorList list) {
  const Transformer& dnn = list.dnn;
  const EmbeddingSizes sizes(list);
  const double element = list.sizes.element;
  list.traffic("embedding lookup", sizes.row_elements, 2 * sizes.row_elements * element,
               list.shard.tensor > 1 ? 4 : 1);
  const bool is_scattered = list.sizes.is_sequence_parallel && dnn.position != Position::learned;
  list.collective(is_scattered ? "embedding reduce-scatter" : "embedding all-reduce",
                  is_scattered ? Collective::reduce_scatter : Collective::all_reduce,
                  sizes.row_elements * element);
  if (dnn.embedding_width() != dnn.hidden) list.forward(input_projection(dnn));
  if (dnn.position == Position::learned) {
    list.pointwise({"position embedding", sizes.whole_elements, 3});
  }
  if (dnn.embedding_norm) list.pointwise({"embedding norm", sizes.split_elements, 2});
  if (dnn.dropout > 0) list.pointwise({"embedding dropout", sizes.split_elements, 2, 1});
  return list.take();
}

// The gradient rows are added into a zeroed table, and the table into the gradient buffer: passes
// over the whole table for every micro-batch.
// Source: PyTorch, aten/src/ATen/native/cuda/Embedding.cu; Megatron-LM adds it to main_grad.
std::vector<Operator> backward(OperatorList list) {
  const Transformer& dnn = list.dnn;
  const EmbeddingSizes sizes(list);
  const double element = list.sizes.element;
  if (dnn.dropout > 0) list.pointwise({"embedding dropout gradient", sizes.split_elements, 2, 1});
  if (dnn.embedding_norm) {
    list.pointwise({"embedding norm gradient", sizes.split_elements, 3, 0, 2, 3});
  }
  if (list.sizes.is_sequence_parallel) {
    list.collective("embedding gradient all-gather", Collective::all_gather,
                    sizes.whole_elements * element);
  }
  if (dnn.position == Position::learned) {
    list.traffic("position gradient", sizes.whole_elements, sizes.whole_elements * element);
  }
  if (dnn.embedding_width() != dnn.hidden) list.backward(input_projection(dnn));
  list.traffic("embedding gradient", sizes.row_elements, 3 * sizes.row_elements * element);
  const double accumulator = list.stack.gradient_fp32 ? 4 : element;
  list.traffic("embedding table gradient", sizes.table_elements,
               sizes.table_elements * (2 * element + 2 * accumulator), 2);
  return list.take();
}

}  // namespace

LayerOperators embedding_operators(const Transformer& dnn, const Shard& shard,
                                   const SoftwareStack& stack) {
  const OperatorList list(dnn, shard, stack);
  return {forward(list), backward(list)};
}

}  // namespace sim::dnn
