// result.h5: everything a run gave, for later questions.
#pragma once

#include <filesystem>

#include "sim/fault/outlook.h"
#include "sim/training/result.h"

namespace analysis {

// Groups: iteration, time, memory (a row a stage), links (a row a class), tracks (one a stream),
// notes, job (of weeks, with failures). Every dataset has the attribute `units`: "ps", "s", "byte",
// "byte/s", "FLOP", "FLOP/s", "1" for ratios and counts, "text". The same result gives the same
// bytes; processor time and memory of the simulator are left out, since they differ from run to
// run. Throws std::runtime_error when the file cannot be written; then none is left.
void write_result(const sim::training::Result& result, const std::filesystem::path& file,
                  const std::optional<sim::fault::Outlook>& outlook = std::nullopt);

}  // namespace analysis
