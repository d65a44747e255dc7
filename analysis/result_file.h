// result.h5: everything a run gave, for later questions.
#pragma once

#include <filesystem>

#include "sim/fault/outlook.h"
#include "sim/training/result.h"

namespace analysis {

// What the file says it is.
inline constexpr const char* result_format = "maquette result 1";

// Groups: iteration, time, memory (a row a stage), links (a row a class), tracks (one a stream),
// notes, job (of weeks, with failures). Every dataset has the attribute `units`: "ps", "s", "byte",
// "byte/s", "FLOP", "FLOP/s", "1" for ratios and counts, "text". The same result gives the same
// bytes; processor time and memory of the simulator are left out, since they differ from run to
// run. Throws std::runtime_error when the file cannot be written; then none is left.
void write_result(const sim::training::Result& result, const std::filesystem::path& file,
                  const std::optional<sim::fault::Outlook>& outlook = std::nullopt);

// What stands in such a file; what is left out there is zero, like the operators of memory. Throws
// std::runtime_error that says what is wrong with it.
sim::training::Result read_result(const std::filesystem::path& file);

}  // namespace analysis
