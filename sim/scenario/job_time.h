// What a scenario says about weeks of a job: failures, checkpoints, recovery.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.h"
#include "sim/fault/model.h"

namespace sim::scenario {

enum class Part { gpu, memory, nic, link, net_switch, host, rack, power, software, alarm, job };

// Failures that were counted somewhere.
struct Observed {
  double failures = 0;
  std::int64_t parts = 1;
  Seconds over;
};

struct FailureEntry {
  Part part = Part::gpu;
  std::string cause;
  // One of these.
  std::optional<double> rate;  // [1/s] of one part
  std::optional<Observed> observed;
  std::optional<fault::Distribution> life;
  std::optional<Seconds> every;

  double infant_extra = 0;
  Seconds infant_decay, age;
  std::optional<Seconds> first;  // with every
  bool is_planned = false;
  std::optional<std::int64_t> parts;
  std::optional<int> hosts;
  std::optional<fault::Distribution> repair, detect, found_after;
  Place place;
};

// A first level in the memory of hosts.
struct MemoryCheckpointEntry {
  Seconds every;
  bool is_copied_to_peer = true;
  std::optional<Seconds> stall, write, read;  // computed unless written
};

struct CheckpointEntry {
  Seconds every;
  bool is_async = false;
  std::optional<Bytes> size;                  // computed unless written, like the times
  std::optional<Seconds> stall, write, read;  // stall: of async
  int kept = 0;
  std::optional<MemoryCheckpointEntry> memory;
};

struct RecoveryEntry {
  std::string policy = "restart";
  fault::Recovery recovery;
  double spare_target = 0.99;  // share of interruptions that need not wait for a host
};

struct Histories {
  double precision = 0.001;
  int most = 1000;
  std::uint64_t seed = 1;
};

struct JobTimeEntry {
  std::vector<FailureEntry> failures;
  std::optional<CheckpointEntry> checkpoint;
  std::optional<RecoveryEntry> recovery;
  std::optional<Seconds> duration;
  std::optional<Histories> histories;
  std::optional<double> device_hour;  // [USD]
  bool is_asked() const { return checkpoint.has_value(); }
};

}  // namespace sim::scenario
