// trace.json.gz: the last iteration on a timeline, for ui.perfetto.dev or chrome://tracing.
#pragma once

#include <filesystem>
#include <string>

#include "analysis/json_writer.h"
#include "sim/training/result.h"

namespace analysis {

// An event that names a process ("process_name") or a thread of it ("thread_name").
void name_part(JsonWriter& json, const char* what, int process, int thread,
               const std::string& name);

// One process for each representative rank, one thread for each of its streams, one counter for
// each link whose load was kept. Times in microseconds, every picosecond written.
std::string trace_json(const sim::training::Result& result);

// The same, compressed; the same result gives the same bytes.
// Throws std::runtime_error when the file cannot be written; then none is left.
void write_trace(const sim::training::Result& result, const std::filesystem::path& file);

}  // namespace analysis
