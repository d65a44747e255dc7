// Each kind of question with a map of its own.
#include "calibrate/profile/remembering.h"

namespace calibrate::profile {
namespace {

template <class Map, class Ask>
Answer remembered(Map& known, const typename Map::key_type& key, Ask ask) {
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, ask()).first->second;
}

}  // namespace

// A field that is added to a question must be added to its key.
Answer RememberingProfile::gemm(const GemmQuestion& q) const {
  const auto& [m, n, k, batch, precision, layout, accumulates_fp32] = q;
  return remembered(gemms_, {m, n, k, batch, precision, layout, accumulates_fp32},
                    [&] { return profile_.gemm(q); });
}

Answer RememberingProfile::grouped_gemm(const GroupedGemmQuestion& q) const {
  const auto& [groups, rows, n, k, imbalance, precision, layout, accumulates_fp32] = q;
  return remembered(grouped_, {groups, rows, n, k, imbalance, precision, layout, accumulates_fp32},
                    [&] { return profile_.grouped_gemm(q); });
}

Answer RememberingProfile::attention(const AttentionQuestion& q) const {
  const auto& [kernel, sequences, query_heads, kv_heads, query_length, key_length, head_size,
               causal, backward, precision, value_head_size] = q;
  return remembered(attentions_,
                    {kernel, sequences, query_heads, kv_heads, query_length, key_length, head_size,
                     causal, backward, precision, value_head_size},
                    [&] { return profile_.attention(q); });
}

Answer RememberingProfile::memory(const MemoryQuestion& q) const {
  return remembered(memories_, q.bytes, [&] { return profile_.memory(q); });
}

}  // namespace calibrate::profile
