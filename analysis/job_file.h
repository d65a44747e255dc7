// Weeks of a job in files: numbers of every history, and one course of it on a timeline.
#pragma once

#include <filesystem>
#include <string>

#include "analysis/hdf5_image.h"
#include "sim/fault/outlook.h"

namespace analysis {

// The group `job`: a value of each history (ratio, wall, work, interruptions), losses by kind and
// by cause on average, and the course of the first history, a row a stretch of it.
void add_job(Hdf5Image& image, const sim::fault::Outlook& outlook);

// The first history as trace events, for ui.perfetto.dev: a thread each for training and for what
// is lost, a counter of replicas. Times are those of the job, in microseconds.
std::string job_trace_json(const std::string& scenario, const sim::fault::Outlook& outlook);

// The same, compressed; the same outlook gives the same bytes.
// Throws std::runtime_error when the file cannot be written; then none is left.
void write_job_trace(const std::string& scenario, const sim::fault::Outlook& outlook,
                     const std::filesystem::path& file);

}  // namespace analysis
