// Transformers as Hugging Face describes them.
#pragma once

#include <filesystem>
#include <optional>

#include "sim/base/diagnostics.h"
#include "sim/dnn/transformer.h"

namespace sim::scenario {

// Returns nothing after reporting why.
std::optional<dnn::Transformer> read_hugging_face(const std::filesystem::path& file,
                                                  Diagnostics& diagnostics);

}  // namespace sim::scenario
