// A job over weeks: what fails, what is saved, how it comes back. Times are in seconds; what
// happens inside an iteration is asked for (rates.h).
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "sim/fault/process.h"
#include "sim/fault/storage_speed.h"

namespace sim::fault {

struct Checkpointing {
  Seconds every;  // of training, from the end of one stop to the next
  Seconds stall;  // training stops for so long
  Seconds write;  // after the stall, until the checkpoint can be used; 0 when blocking
  Seconds drain;  // all of it at once, before a planned stop
  Seconds read;   // at a restart
  int kept = 0;   // the newest so many can be read; 0: all
  // How many times faster the storage is than what bounds writing and reading; at infinity what
  // they take is not its matter.
  double write_room = std::numeric_limits<double>::infinity();
  double read_room = std::numeric_limits<double>::infinity();
};

// States that are kept in the memory of hosts, between those in storage.
struct MemoryLevel {
  Checkpointing times;  // kept: the newest only
  int hosts_lost = 0;   // failures that take at most so many hosts leave a copy of all parts
};

struct Recovery {
  Distribution detect;  // from a failure until all ranks have stopped
  Seconds restart;      // until the checkpoint is read: scheduling, starting, connecting
  // A cold spare host boots first; a hot one has all running, so that it takes over instead of the
  // restart.
  enum class Spare { cold, warm, hot };
  Spare spare = Spare::warm;
  Seconds boot, takeover;
  Seconds reconfigure;  // what survives goes on without those lost, or takes them in again
  // Whether a failure while the job comes back starts the recovery over; otherwise there is none.
  bool is_interruptible = true;
};

struct Machines {
  int hosts = 1;   // that the whole job needs
  int spares = 0;  // further hosts
  int replicas = 1;
  int devices_per_host = 1, ranks_per_replica = 1;

  // 1 unless they are whole hosts.
  int hosts_per_replica() const {
    return ranks_per_replica % devices_per_host == 0 ? ranks_per_replica / devices_per_host : 1;
  }
};

struct Horizon {
  std::optional<Seconds> duration;  // of wall time; or
  std::optional<Seconds> work;      // training at full speed; one of them is given
};

struct Model {
  std::vector<FailureProcess> processes;
  Checkpointing checkpoint;
  std::optional<MemoryLevel> memory;
  std::vector<Slowness> storage;
  Recovery recovery;
  Machines machines;
  Horizon horizon;
};

}  // namespace sim::fault
