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
// with # are not either. Rows of one op and shape are samples of one case.
//   gemm bf16 forward    4096 x 8192 x 1024    m, n, k
//   memory copy          64 MiB                read and written
//   all_reduce           8 x 64 MiB            ranks, bytes as nccl-tests counts
std::optional<calibrate::profile::Measurement> read_sample_table(const std::filesystem::path& file,
                                                                 Diagnostics& diagnostics);

}  // namespace sim::scenario
