// What the forward pass of a layer leaves in memory for its backward pass.
#include "sim/dnn/experts.h"

namespace sim::dnn {
namespace {

constexpr double statistic_bytes = 4;  // log-sum-exp of a row of a fused attention, fp32
constexpr double score_bytes = 4;      // probabilities of a router, fp32
constexpr double map_bytes = 1;        // which experts a token goes to

class Keeper {
 public:
  Keeper(const Transformer& dnn, const Shard& shard, const SoftwareStack& stack)
      : dnn_(dnn),
        shard_(shard),
        stack_(stack),
        sizes_(dnn, shard, stack),
        tokens_(static_cast<double>(sizes_.tokens)),
        split_(sizes_.split_tokens * static_cast<double>(dnn.hidden)) {}

  std::vector<SavedTensor> run(const LayerKind& kind) {
    keep("layer input (norm input)", split_);
    keep("qkv projection input", split_);
    dnn_.is_latent() ? keep_latent_inputs() : keep_attention_inputs();
    keep_core();
    keep("output projection input", tokens_ * static_cast<double>(sizes_.attention_width));
    with_alternate(1);
    if (dnn_.sandwich_norm) keep("attention output norm input", split_);
    if (dnn_.dropout > 0) keep("attention residual dropout mask", split_, 1);
    keep("mlp norm input", split_);
    keep("mlp input projection input", split_);
    if (kind.is_moe) {
      keep_experts();
    } else {
      keep_block("", tokens_, static_cast<double>(sizes_.ffn));
    }
    if (dnn_.sandwich_norm) keep("mlp output norm input", split_);
    if (dnn_.dropout > 0) keep("mlp residual dropout mask", split_, 1);
    return std::move(result_);
  }

 private:
  void keep(const std::string& name, double elements, double bytes, bool is_core = false) {
    result_.push_back({name, elements, bytes, is_core, result_.empty()});
  }
  void keep(const std::string& name, double elements) { keep(name, elements, sizes_.element); }
  void with_alternate(double share) { result_.back().alternate_share = share; }

  void keep_attention_inputs();
  void keep_latent_inputs();
  void keep_core();
  void keep_block(const std::string& of, double rows, double ffn);
  void keep_experts();

  const Transformer& dnn_;
  const Shard& shard_;
  const SoftwareStack& stack_;
  const LocalSizes sizes_;
  const double tokens_, split_;
  std::vector<SavedTensor> result_;
};

void Keeper::keep_attention_inputs() {
  const double queries = tokens_ * static_cast<double>(sizes_.query_width);
  const double keys = tokens_ * static_cast<double>(sizes_.kv_width);
  if (dnn_.query_key_norm) keep("query and key norm input", queries + keys);
  keep("query", queries);
  with_alternate(1);
  keep("key", keys);
  keep("value", keys);
  with_alternate(1);
}

// The compressed states before and behind their norms, on the tokens of this rank.
void Keeper::keep_latent_inputs() {
  const double own = sizes_.split_tokens;
  const double query_rank = own * static_cast<double>(dnn_.latent.query_rank);
  const double key_rank = own * static_cast<double>(dnn_.latent.key_value_rank);
  if (query_rank > 0) {
    keep("query rank norm input", query_rank);
    keep("query up-projection input", query_rank);
  }
  keep("key and value rank norm input", key_rank);
  keep("key and value up-projection input", key_rank);
  keep("query", tokens_ * static_cast<double>(sizes_.query_width));
  keep("key", tokens_ * static_cast<double>(sizes_.kv_width));
  keep("value", tokens_ * static_cast<double>(sizes_.value_width));
}

void Keeper::keep_core() {
  if (stack_.attention != SoftwareStack::Attention::unfused) {
    keep("attention statistics", tokens_ * static_cast<double>(sizes_.heads), statistic_bytes,
         true);
    with_alternate(1);
    return;
  }
  keep("attention probabilities", sizes_.scores, sizes_.element, true);
  if (dnn_.dropout > 0) {
    keep("attention dropout mask", sizes_.scores, 1, true);
    keep("attention dropout output", sizes_.scores, sizes_.element, true);
  }
}

// Between the two products of a feed-forward block. The gradient of a ReLU needs only its output.
void Keeper::keep_block(const std::string& of, double rows, double ffn) {
  const double inner = rows * ffn;
  if (dnn_.gated) {
    keep(of + "activation inputs", 2 * inner);
    with_alternate(0.5);
    if (!stack_.fused_pointwise) keep(of + "activated gate", inner);
  } else if (dnn_.activation != Activation::relu) {
    keep(of + "activation input", inner);
    with_alternate(1);
  }
  keep((of.empty() ? "mlp " : of) + "output projection input", inner);
}

void Keeper::keep_experts() {
  const ExpertSizes experts(dnn_, shard_, sizes_);
  const double scores =
      static_cast<double>(experts.tokens) * static_cast<double>(dnn_.experts.count);
  const auto rows = static_cast<double>(experts.rows);
  keep("router probabilities", scores, score_bytes);
  keep("routing map", scores, map_bytes);
  if (experts.shared_ffn > 0) {
    keep_block("shared expert ", tokens_, static_cast<double>(experts.shared_ffn));
  }
  keep("expert input projection input", rows * static_cast<double>(dnn_.hidden));
  keep_block("expert ", rows, static_cast<double>(experts.ffn));
}

}  // namespace

std::vector<SavedTensor> saved_tensors(const Transformer& dnn, const Shard& shard,
                                       const SoftwareStack& stack, const LayerKind& kind) {
  return Keeper(dnn, shard, stack).run(kind);
}

std::vector<SavedTensor> saved_tensors(const Transformer& dnn, const Shard& shard,
                                       const SoftwareStack& stack) {
  return saved_tensors(dnn, shard, stack, only_kind(dnn));
}

}  // namespace sim::dnn
