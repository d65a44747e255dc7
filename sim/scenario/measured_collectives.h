// Measured collectives: what nccl-tests and rccl-tests print, and tables of such rows.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.h"
#include "sim/collective/collective.h"

namespace sim::scenario {

struct MeasuredCollective {
  Bytes size;    // as nccl-tests counts
  Seconds time;  // out of place
  Place place;
};

// One operation on one group of ranks, over sizes. Texts as written; empty: not stated.
struct CollectiveRun {
  std::string id;
  collective::Operation operation = collective::Operation::all_reduce;
  std::string device, fabric, settings;
  int ranks = 0, hosts = 0;
  std::vector<MeasuredCollective> rows;
  int empty_rows = 0;  // of 0 bytes, or without a time: nothing to compare
  Place place;
};

// What the command line states of a log that does not say it itself.
struct LogFacts {
  std::optional<collective::Operation> operation = {};
  std::optional<int> ranks = {}, hosts = {};
};

// The output of one or several tests after each other. Lines in front of a table, and between, may
// be anything; prefixes of mpirun ("[1,0]<stdout>:") are taken off. Refused: a test that found
// wrong results, values that are no numbers or contradict each other, a single rank.
std::optional<std::vector<CollectiveRun>> read_collective_log(const std::filesystem::path& file,
                                                              const LogFacts& facts,
                                                              Diagnostics& diagnostics);

// Comma-separated rows under a header. Needed: op, n_gpus or num_gpus, size_bytes, time_us or
// time_us_median; n_nodes is 1 where there is no such column. Rows of one run_id, or without that
// column of one system, version, type and size of the group, are a run.
std::optional<std::vector<CollectiveRun>> read_collective_table(const std::filesystem::path& file,
                                                                Diagnostics& diagnostics);

// "all_reduce", "all-reduce", "alltoall", "sendrecv", ...: as nccl-tests or we call it.
std::optional<collective::Operation> operation_named(const std::string& name);
// What can be given to operation_named, for messages.
std::vector<std::string> operation_names();

}  // namespace sim::scenario
