// The operators of a mixture of experts.
//
//   forward     router, top-k, [balance loss], permute, dispatch, shared experts, [gather], sort,
//               products, sort, [scatter], combine, unpermute
//   backward    the same from the end, every product with an input and a weight gradient
//
// Gather and scatter are those of an expert_tensor group. Scores weigh the rows inside the
// activation between the products, so that outputs of experts need not be kept for their gradient.
// Source: Megatron-LM, megatron/core/transformer/moe: moe_layer.py, token_dispatcher.py,
// experts.py.
#include "sim/dnn/experts.h"

#include <algorithm>
#include <cmath>

#include "sim/dnn/pointwise.h"

namespace sim::dnn {
namespace {

std::int64_t share(std::int64_t whole, std::int64_t parts) { return (whole + parts - 1) / parts; }

struct Block {
  explicit Block(const OperatorList& list)
      : sizes(list.dnn, list.shard, list.sizes),
        router{"router",
               list.dnn.hidden,
               list.dnn.experts.count,
               Linear::Split::none,
               list.dnn.experts.router_bias && list.dnn.experts.router == Router::softmax,
               sizes.tokens},
        in{"expert input projection", sizes.groups,   sizes.rows, list.dnn.hidden, sizes.inputs,
           list.dnn.mlp_bias,         sizes.imbalance},
        out{"expert output projection", sizes.groups,   sizes.rows, sizes.ffn, list.dnn.hidden,
            list.dnn.mlp_bias,          sizes.imbalance},
        shared_in{"shared expert input projection", list.dnn.hidden, sizes.shared_inputs,
                  Linear::Split::columns, list.dnn.mlp_bias},
        shared_out{"shared expert output projection", sizes.shared_ffn, list.dnn.hidden,
                   Linear::Split::rows, list.dnn.mlp_bias} {}

  ExpertSizes sizes;
  Linear router;
  GroupedLinear in, out;
  Linear shared_in, shared_out;
};

double hidden_elements(const OperatorList& list, std::int64_t rows) {
  return static_cast<double>(rows) * static_cast<double>(list.dnn.hidden);
}
double hidden_bytes(const OperatorList& list, std::int64_t rows) {
  return hidden_elements(list, rows) * list.sizes.element;
}

double score_elements(const OperatorList& list, const ExpertSizes& sizes) {
  return static_cast<double>(sizes.tokens) * static_cast<double>(list.dnn.experts.count);
}

// Routers that a bias steers need no loss that keeps the load even.
// Source: DeepSeek-AI, "DeepSeek-V3", 2024, section 2.1.2.
bool has_balance_loss(const Transformer& dnn) {
  return dnn.experts.router != Router::sigmoid || !dnn.experts.router_bias;
}

// A token is read once, and written for each of its experts; or the reverse.
void permutation(OperatorList& list, const char* name, const ExpertSizes& sizes) {
  list.traffic(name, hidden_elements(list, sizes.sent),
               hidden_bytes(list, sizes.tokens) + hidden_bytes(list, sizes.sent),
               list.stack.fused_pointwise ? 2 : 4);
}

// Rows arrive by sender, and are multiplied by expert.
void sort(OperatorList& list, const char* name, const ExpertSizes& sizes) {
  const bool is_needed = list.shard.expert > 1 || list.shard.expert_tensor > 1;
  if (!is_needed || sizes.groups == 1) return;
  list.traffic(name, hidden_elements(list, sizes.rows), 2 * hidden_bytes(list, sizes.rows));
}

// As many rows come as go where the load is even. `beside`: what it runs beside where the stack
// does so.
void exchange(OperatorList& list, const char* name, Collective kind, const ExpertSizes& sizes,
              const std::vector<Operator>& beside = {}) {
  const bool overlaps = list.stack.overlaps_shared_experts;
  list.collective(RankGroup::expert, name, kind, hidden_bytes(list, sizes.sent),
                  overlaps ? static_cast<int>(beside.size()) : 0);
}

void among_tensor_ranks(OperatorList& list, const char* name, Collective kind,
                        const ExpertSizes& sizes) {
  list.collective(RankGroup::expert_tensor, name, kind, hidden_bytes(list, sizes.rows));
}

double activated(std::int64_t rows, std::int64_t ffn) {
  return static_cast<double>(rows) * static_cast<double>(ffn);
}

bool has_shared(const OperatorList& list) { return list.dnn.experts.shared_ffn > 0; }

std::vector<Operator> shared_forward(const OperatorList& layer, const Block& block) {
  if (!has_shared(layer)) return {};
  OperatorList list(layer.dnn, layer.shard, layer.stack);
  list.forward(block.shared_in);
  activation_forward(list, "shared expert activation",
                     activated(list.sizes.tokens, block.sizes.shared_ffn));
  list.forward(block.shared_out);
  return list.take();
}

std::vector<Operator> shared_backward(const OperatorList& layer, const Block& block) {
  if (!has_shared(layer)) return {};
  OperatorList list(layer.dnn, layer.shard, layer.stack);
  list.backward(block.shared_out);
  activation_backward(list, "shared expert activation gradient",
                      activated(list.sizes.tokens, block.sizes.shared_ffn));
  list.backward(block.shared_in);
  return list.take();
}

}  // namespace

ExpertSizes::ExpertSizes(const Transformer& dnn, const Shard& shard, const LocalSizes& sizes) {
  const Experts& experts = dnn.experts;
  const double capacity = experts.capacity_factor;
  groups = share(experts.count, shard.expert);
  tokens = sizes.own_tokens;
  sent =
      std::llround(static_cast<double>(tokens * experts.per_token) * (capacity > 0 ? capacity : 1));
  // Experts with a capacity are filled up to it, so that no rank has more rows than another.
  const double load = capacity > 0 ? 1 : shard.expert_load;
  imbalance = capacity > 0 ? 1 : shard.expert_imbalance;
  rows = std::llround(static_cast<double>(sent) * load) * shard.expert_tensor;
  ffn = share(experts.ffn, shard.expert_tensor);
  inputs = dnn.gated ? 2 * ffn : ffn;
  shared_ffn = share(experts.shared_ffn, shard.tensor);
  shared_inputs = dnn.gated ? 2 * shared_ffn : shared_ffn;
}

void experts_forward(OperatorList& list) {
  const Block block(list);
  const ExpertSizes& sizes = block.sizes;
  list.forward(block.router);
  // Scores, probabilities, map of experts.
  list.pointwise({"top-k", score_elements(list, sizes), 3, 0, 1, 6});
  if (has_balance_loss(list.dnn)) {
    list.pointwise({"balance loss", score_elements(list, sizes), 1, 0, 2, 4});
  }
  permutation(list, "permute", sizes);
  const std::vector<Operator> shared = shared_forward(list, block);
  exchange(list, "dispatch", Collective::dispatch, sizes, shared);
  list.append(shared);
  among_tensor_ranks(list, "expert input all-gather", Collective::all_gather, sizes);
  sort(list, "expert sort", sizes);
  list.forward(block.in);
  activation_forward(list, "expert activation", activated(sizes.rows, sizes.ffn));
  list.forward(block.out);
  sort(list, "expert unsort", sizes);
  among_tensor_ranks(list, "expert output reduce-scatter", Collective::reduce_scatter, sizes);
  exchange(list, "combine", Collective::combine, sizes);
  permutation(list, "unpermute", sizes);
  if (has_shared(list)) list.pointwise({"shared expert sum", split_elements(list), 3});
}

void experts_backward(OperatorList& list) {
  const Block block(list);
  const ExpertSizes& sizes = block.sizes;
  permutation(list, "unpermute gradient", sizes);
  const std::vector<Operator> shared = shared_backward(list, block);
  exchange(list, "combine gradient", Collective::dispatch, sizes, shared);
  list.append(shared);
  among_tensor_ranks(list, "expert output gradient all-gather", Collective::all_gather, sizes);
  sort(list, "expert unsort gradient", sizes);
  list.backward(block.out);
  activation_backward(list, "expert activation gradient", activated(sizes.rows, sizes.ffn));
  list.backward(block.in);
  sort(list, "expert sort gradient", sizes);
  among_tensor_ranks(list, "expert input gradient reduce-scatter", Collective::reduce_scatter,
                     sizes);
  exchange(list, "dispatch gradient", Collective::combine, sizes);
  permutation(list, "permute gradient", sizes);
  if (has_balance_loss(list.dnn)) {
    list.pointwise({"balance loss gradient", score_elements(list, sizes), 1, 0, 1, 2});
  }
  list.pointwise({"top-k gradient", score_elements(list, sizes), 3, 0, 1, 6});
  list.backward(block.router);
  // Gradients of the router's and of the shared experts' input join that of the routed one.
  list.pointwise({"expert input gradient sum", split_elements(list), has_shared(list) ? 4.0 : 3.0});
}

}  // namespace sim::dnn
