// YAML text -> tree of values with places. Nothing else knows the YAML library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/base/diagnostics.h"
#include "sim/scenario/tree.h"

namespace sim::scenario {

// What a document may have at most; beyond it, it is no scenario but an attack or a mistake.
inline constexpr std::size_t file_bytes_max = std::size_t{16} << 20;
inline constexpr std::size_t values_max = 500'000;
inline constexpr std::size_t depth_max = 64;

// Returns the one document in `text`, where `name` is the file as the user named it. The first
// `prefix` bytes are shown in messages but are not YAML ("--set plan.tensor=" in front of a value).
// Returns nothing after reporting why. Duplicate keys are reported and the first one is kept.
std::optional<Value> parse_document(const std::string& name, const std::string& text,
                                    Diagnostics& diagnostics, std::size_t prefix = 0);

// The bytes of a file, or nothing after reporting why at `place`.
std::optional<std::string> read_text(const std::filesystem::path& file, const Place& place,
                                     Diagnostics& diagnostics);

// Both in one: a file whose top level is a map.
std::optional<Value> read_document(const std::filesystem::path& file, const Place& place,
                                   Diagnostics& diagnostics);

}  // namespace sim::scenario
