// maquette attribute of a recorded timeline.
#pragma once

#include <filesystem>

#include "sim/command/options.h"

namespace sim::command {

// Whether the name is that of a timeline: .json or .json.gz.
bool is_timeline(const std::filesystem::path& file);

// Returns the exit code.
int attribute_timeline(const std::filesystem::path& file, const Common& common);

}  // namespace sim::command
