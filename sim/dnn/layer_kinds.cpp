// Which layers have experts, and which see only a window.
#include <algorithm>

#include "sim/base/invariant.h"
#include "sim/dnn/transformer.h"

namespace sim::dnn {

LayerKind layer_kind(const Transformer& dnn, int layer) {
  LayerKind kind;
  const bool is_full = dnn.full_period > 0 && (layer + 1) % dnn.full_period == 0;
  if (dnn.span != AttentionSpan::full && !is_full) {
    kind.span = dnn.span;
    kind.window = dnn.window;
  }
  const Experts& experts = dnn.experts;
  kind.is_moe = dnn.is_moe() && layer >= experts.dense_first && (layer + 1) % experts.period == 0;
  return kind;
}

LayerKinds layer_kinds(const Transformer& dnn) {
  LayerKinds result;
  for (int layer = 0; layer < dnn.layers; ++layer) {
    const LayerKind kind = layer_kind(dnn, layer);
    const auto found = std::find(result.kinds.begin(), result.kinds.end(), kind);
    result.of_layer.push_back(static_cast<std::size_t>(found - result.kinds.begin()));
    if (found == result.kinds.end()) result.kinds.push_back(kind);
  }
  return result;
}

LayerKind prediction_kind(const Transformer& dnn) { return layer_kind(dnn, dnn.layers - 1); }

LayerKind only_kind(const Transformer& dnn) {
  const LayerKinds all = layer_kinds(dnn);
  invariant(all.kinds.size() <= 1, "the layers of this transformer are alike");
  return all.kinds.empty() ? LayerKind{} : all.kinds.front();
}

}  // namespace sim::dnn
