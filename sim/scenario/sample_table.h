// Measured kernels as a table that any script can write: op, shape, time.
#pragma once

#include <filesystem>
#include <optional>

#include "calibrate/profile/measurement.h"
#include "sim/base/diagnostics.h"

namespace sim::scenario {

// Whether the first line names the columns of such a table.
bool is_sample_table(const std::filesystem::path& file);

// Columns `op`, `shape` and `time [us]` (or [s], [ms], [ns]); others are not read. Lines that begin
// with # are not either, but `# fact NAME: VALUE` becomes part of the environment. Rows of one op
// and shape are samples of one case; families as in calibrate/profile/measurement.h.
//   gemm bf16 forward            4096 x 8192 x 1024         m, n, k; input and weight gradient too
//   attention flash3 backward    2 x 32 x 8 x 4096 x 128    sequences, heads, key heads, length,
//                                                           size of a head; causal, else 'full'
//   memory copy                  64 MiB                     read and written
//   all_reduce                   8 x 64 MiB                 ranks, bytes as nccl-tests counts
std::optional<calibrate::profile::Measurement> read_sample_table(const std::filesystem::path& file,
                                                                 Diagnostics& diagnostics);

}  // namespace sim::scenario
