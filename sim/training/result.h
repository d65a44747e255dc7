// What a run gives: iteration times, where the time of the last rank went, memory, links, traces.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/profile/profile.h"
#include "sim/plan/memory.h"
#include "sim/training/host_memory.h"

namespace sim::training {

// Where the time of a rank's compute stream goes; together they are the iteration, to the
// picosecond.
enum class Category {
  compute,
  recompute,
  optimizer,
  bubble,  // waiting for a pipeline peer that is late
  wait,    // waiting for any other peer that is late
  host,    // waiting for a launch
  other,
  exposed_tensor,
  exposed_context,
  exposed_expert,
  exposed_pipeline,
  exposed_data,
  exposed_offload,
};
inline constexpr int category_count = 13;
using CategoryTimes = std::array<std::int64_t, category_count>;  // [category] picoseconds
std::string_view name(Category category);                        // "compute", ..., "exposed.tensor"

// One operation on one stream of a representative rank, in the last iteration.
struct Span {
  std::string name;  // "forward 3.0" = micro-batch 3, virtual stage 0
  Category category = Category::compute;
  std::int64_t start_ps = 0, end_ps = 0;  // since the start of the iteration
};
struct Track {
  int rank = 0;  // lowest rank of those that behave alike
  int stage = 0;
  std::int64_t ranks_alike = 1;
  std::string stream;  // "compute", "tensor", "data", "send forward", ...
  std::vector<Span> spans;
  int replica = 0;  // the first of those that are cut alike
};

// Links that carry the same load.
struct LinkClass {
  std::string example;  // "host3.nic2"
  std::int64_t count = 1;
  double capacity = 0;          // [bytes/s]
  double bytes = 0;             // through each, in the last iteration
  double utilization_mean = 0;  // of capacity, over the last iteration
  double utilization_max = 0;
  std::vector<std::pair<std::int64_t, double>>
      load;  // [ps], share of capacity from then on; busiest links only
};

struct StageMemory {
  int stage = 0, lowest_rank = 0, ranks = 0;
  std::string device_type;
  double capacity_bytes = 0;
  plan::MemoryBreakdown memory;
  // Since the start of the iteration [ps], the bytes of `memory.activations` that are held from
  // then on, beside all else, which stays. Empty without a flush, and -1.
  std::vector<std::pair<std::int64_t, double>> activations = {};
  std::int64_t peak_at_ps = -1;
  int replica = 0;  // the first of those that are cut alike
};

struct Fold {
  std::int64_t ranks = 0, rank_classes = 0, tasks = 0, task_classes = 0;
  bool exact = true;
};

// How iterations of the pipeline follow each other.
struct Pipelining {
  bool flushes = true;      // all stages end an iteration before the next begins
  int staleness = 0;        // optimizer steps by which the weights of a gradient are old
  int weight_versions = 1;  // held at once
};

// Families of operators whose timing models err together: by one level each.
enum class ErrorFamily { gemm, attention, memory, collective };
inline constexpr int error_family_count = 4;
const char* name(ErrorFamily family);

struct Interval {
  double p10_s = 0, p90_s = 0;
  // One sigma, relative: of the timing models, of the software stack's constants, of repeats.
  double model = 0, software = 0, jitter = 0;
  std::string stack = {};  // whose error `software` is; runs with the same one share it
  // What `model` consists of: one sigma of each family of one device type. Two runs on devices of
  // that type share the errors. Empty: nothing but repeats is uncertain.
  std::string device_type = {};
  std::array<double, error_family_count> families{};  // [ErrorFamily]
};

// More ranks would be simulated one by one than Job::ranks_max.
struct TooLarge {
  std::int64_t ranks = 0, most = 0;
};

struct Result {
  std::string scenario;
  int devices = 0;
  std::vector<std::int64_t> iterations_ps;
  Interval interval;
  double samples_per_iteration = 0, tokens_per_iteration = 0;
  double model_flops_per_iteration = 0, model_flops_causal_per_iteration = 0,
         hardware_flops_per_iteration = 0;
  double peak_flops_per_second = 0;  // all devices, dense, of the precision used
  bool fits = true;
  std::vector<StageMemory> memory;        // by stage
  std::optional<HostMemory> host_memory;  // of the fullest host, where plans offload
  std::vector<plan::Remedy> remedies;     // when it does not fit
  int time_rank = 0;                      // the rank that `time` belongs to
  CategoryTimes time{};
  std::vector<LinkClass> links;  // busiest first, at most 20
  std::vector<Track> tracks;     // one representative a stage
  Fold fold;
  Pipelining pipelining;
  std::map<std::string, calibrate::profile::Origin> profile_origin;  // by device type
  std::vector<std::string> extrapolated, warnings;
  std::vector<std::string> advice;  // "what to change next", most promising first
  std::uint64_t fingerprint = 0;
  double cpu_time_s = 0;
  std::int64_t peak_rss_bytes = 0;

  std::int64_t iteration_ps() const { return iterations_ps.empty() ? 0 : iterations_ps.back(); }
};

}  // namespace sim::training
