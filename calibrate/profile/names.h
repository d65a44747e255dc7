// Words for the enumerations of this module, as they stand in files and on screen.
#pragma once

#include <optional>
#include <string_view>

#include "calibrate/profile/profile.h"

namespace calibrate::profile {

const char* name(Precision precision);
const char* name(Origin origin);
const char* name(Layout layout);
const char* name(AttentionKernel kernel);
const char* name(CollectiveKind kind);

std::optional<Precision> precision_of(std::string_view text);
std::optional<Layout> layout_of(std::string_view text);
std::optional<Origin> origin_of(std::string_view text);
std::optional<AttentionKernel> attention_kernel_of(std::string_view text);
std::optional<CollectiveKind> collective_kind_of(std::string_view text);

}  // namespace calibrate::profile
