// One projection for queries, keys and values, or the low-rank ones of latent attention.
//
// Latent: the down projections are whole on every rank and see its own tokens; the up projections
// are split by heads and see all tokens, like any column-parallel product; the part of the keys
// with positions is gathered for itself. Source: Megatron-LM, megatron/core/transformer/
// multi_latent_attention.py.
#include "sim/dnn/projections.h"

#include "sim/dnn/pointwise.h"

namespace sim::dnn {
namespace {

Linear qkv_projection(const OperatorList& list) {
  const LocalSizes& sizes = list.sizes;
  return {"qkv projection", list.dnn.hidden, sizes.query_width + sizes.kv_width + sizes.value_width,
          Linear::Split::columns, list.dnn.attention_bias};
}

double rotated_elements(const OperatorList& list) {
  return static_cast<double>(list.sizes.tokens) *
         static_cast<double>(list.sizes.query_width + list.sizes.kv_width);
}

// Llama 4 gives positions only to layers that see a chunk.
bool is_rotated(const Transformer& dnn, const LayerKind& kind) {
  return dnn.position == Position::rotary &&
         (dnn.span != AttentionSpan::chunked || kind.span == AttentionSpan::chunked);
}

struct LatentProjections {
  explicit LatentProjections(const OperatorList& list)
      : latent(list.dnn.latent),
        tokens(list.sizes.own_tokens),
        plain_size(list.dnn.head_size - latent.rotary_size),
        query_down{"query down-projection", list.dnn.hidden,         latent.query_rank,
                   Linear::Split::none,     list.dnn.attention_bias, tokens},
        query_up{"query up-projection", latent.query_rank > 0 ? latent.query_rank : list.dnn.hidden,
                 list.sizes.query_width, Linear::Split::columns, false},
        keys_down{"key and value down-projection",
                  list.dnn.hidden,
                  latent.key_value_rank + latent.rotary_size,
                  Linear::Split::none,
                  list.dnn.attention_bias,
                  tokens},
        keys_up{"key and value up-projection", latent.key_value_rank,
                list.sizes.heads * (plain_size + latent.value_size), Linear::Split::columns,
                false} {}

  const LatentAttention& latent;
  std::int64_t tokens;
  std::int64_t plain_size;
  Linear query_down, query_up, keys_down, keys_up;
};

double elements(std::int64_t rows, std::int64_t columns) {
  return static_cast<double>(rows) * static_cast<double>(columns);
}

// Positions are the same for all heads of a key: one row a token.
double latent_rotated(const OperatorList& list) {
  return elements(list.sizes.tokens, (list.sizes.heads + 1) * list.dnn.latent.rotary_size);
}
double rotary_key_bytes(const OperatorList& list) {
  return elements(list.sizes.tokens, list.dnn.latent.rotary_size) * list.sizes.element;
}
double assembled(const OperatorList& list) {
  return elements(list.sizes.tokens, list.sizes.heads * list.dnn.head_size);
}

void latent_forward(OperatorList& list) {
  const LatentProjections p(list);
  const int norm_kernels = eager_norm_kernels(list.dnn);
  if (p.latent.query_rank > 0) {
    list.forward(p.query_down);
    list.pointwise(
        {"query rank norm", elements(p.tokens, p.latent.query_rank), 2, 0, 1, norm_kernels});
  }
  list.forward(p.keys_down);
  if (list.sizes.is_sequence_parallel) {
    list.collective("rotary key all-gather", Collective::all_gather, rotary_key_bytes(list));
  }
  list.pointwise({"key and value rank norm", elements(p.tokens, p.latent.key_value_rank), 2, 0, 1,
                  norm_kernels});
  list.forward(p.query_up);
  list.forward(p.keys_up);
  list.pointwise({"rotary", latent_rotated(list), 2, 0, 2, 12});
  list.pointwise({"key assembly", assembled(list), 2, 0, 1, 2});
}

void latent_backward(OperatorList& list) {
  const LatentProjections p(list);
  const int norm_kernels = 2 * eager_norm_kernels(list.dnn) + 1;
  list.pointwise({"key assembly gradient", assembled(list), 2, 0, 1, 2});
  list.pointwise({"rotary gradient", latent_rotated(list), 2, 0, 2, 12});
  list.backward(p.keys_up);
  list.backward(p.query_up);
  list.pointwise({"key and value rank norm gradient", elements(p.tokens, p.latent.key_value_rank),
                  3, 0, 2, norm_kernels});
  if (list.sizes.is_sequence_parallel) {
    list.collective("rotary key gradient reduce-scatter", Collective::reduce_scatter,
                    rotary_key_bytes(list));
  }
  list.backward(p.keys_down);
  if (p.latent.query_rank > 0) {
    list.pointwise({"query rank norm gradient", elements(p.tokens, p.latent.query_rank), 3, 0, 2,
                    norm_kernels});
    list.backward(p.query_down);
  }
}

}  // namespace

void positions_forward(OperatorList& list, const LayerKind& kind) {
  if (list.dnn.query_key_norm) {
    list.pointwise(
        {"query and key norm", rotated_elements(list), 2, 0, 2, 2 * eager_norm_kernels(list.dnn)});
  }
  if (is_rotated(list.dnn, kind)) {
    list.pointwise({"rotary", rotated_elements(list), 2, 0, 2, 12});
  }
}

void projections_forward(OperatorList& list, const LayerKind& kind) {
  if (list.dnn.is_latent()) return latent_forward(list);
  list.forward(qkv_projection(list));
  positions_forward(list, kind);
}

void projections_backward(OperatorList& list, const LayerKind& kind) {
  if (list.dnn.is_latent()) return latent_backward(list);
  if (is_rotated(list.dnn, kind)) {
    list.pointwise({"rotary gradient", rotated_elements(list), 2, 0, 2, 12});
  }
  if (list.dnn.query_key_norm) {
    list.pointwise({"query and key norm gradient", rotated_elements(list), 3, 0, 4,
                    4 * eager_norm_kernels(list.dnn) + 2});
  }
  list.backward(qkv_projection(list));
}

}  // namespace sim::dnn
