// Words for the enumerations of this module.
#include "calibrate/profile/names.h"

#include <array>

namespace calibrate::profile {
namespace {

constexpr std::array precision_names{"fp32", "tf32", "fp16", "bf16", "fp8"};
constexpr std::array origin_names{"measured", "public measurements", "datasheet", "ideal",
                                  "reference"};
constexpr std::array layout_names{"forward", "input gradient", "weight gradient"};
constexpr std::array kernel_names{"flash2", "flash3", "cudnn", "triton"};
constexpr std::array collective_names{"all_reduce", "all_gather", "reduce_scatter",
                                      "all_to_all", "broadcast",  "send_receive"};

template <class Enum, std::size_t Count>
std::optional<Enum> find(const std::array<const char*, Count>& names, std::string_view text) {
  for (std::size_t i = 0; i < Count; ++i) {
    if (text == names[i]) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

const char* name(Precision value) { return precision_names.at(static_cast<std::size_t>(value)); }
const char* name(Origin value) { return origin_names.at(static_cast<std::size_t>(value)); }
const char* name(Layout value) { return layout_names.at(static_cast<std::size_t>(value)); }
const char* name(AttentionKernel value) { return kernel_names.at(static_cast<std::size_t>(value)); }
const char* name(CollectiveKind value) {
  return collective_names.at(static_cast<std::size_t>(value));
}

std::optional<Precision> precision_of(std::string_view text) {
  return find<Precision>(precision_names, text);
}
std::optional<Layout> layout_of(std::string_view text) { return find<Layout>(layout_names, text); }
std::optional<Origin> origin_of(std::string_view text) { return find<Origin>(origin_names, text); }
std::optional<AttentionKernel> attention_kernel_of(std::string_view text) {
  return find<AttentionKernel>(kernel_names, text);
}
std::optional<CollectiveKind> collective_kind_of(std::string_view text) {
  return find<CollectiveKind>(collective_names, text);
}

}  // namespace calibrate::profile
