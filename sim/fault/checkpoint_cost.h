// How large a checkpoint is and how long it takes, from the memory that is saved and the rates of
// storage, NICs and PCIe.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/quantity.h"

namespace sim::fault {

struct CheckpointFacts {
  Bytes size;
  int hosts = 1;          // of the job
  int writing_hosts = 1;  // that hold different parts
  int writing_devices = 1;
  int nics = 0;        // of a host; 0: storage is not behind NICs
  BytesPerSecond nic;  // of one
  BytesPerSecond up;   // of each NIC's way beyond its leaf, where that is on the way to the storage
                       // and narrower; 0: not
  BytesPerSecond pcie;  // of a device to its host; 0: not known
  std::optional<BytesPerSecond> storage_write, storage_read;
  bool is_async = false;
  // What is written in the scenario instead of computed.
  std::optional<Seconds> stall, write, read;
};

struct CheckpointCost {
  Seconds stall, write, drain, read;  // as in Checkpointing
  BytesPerSecond per_nic;             // load of each writing NIC during `write`
  // As in Checkpointing. 1 where the storage bounds the time; infinite where the time is given.
  double write_room = std::numeric_limits<double>::infinity();
  double read_room = std::numeric_limits<double>::infinity();
  std::vector<std::string> notes;  // where the numbers come from, for people
};

// Blocking: all of it is a stall, at the lowest of the storage's, the NICs' and the up links'
// rates. Async: the stall is the copy to the memory of the hosts over PCIe; the writing beside
// training takes at most half of a NIC and of an up link. Reading: once, by all hosts together,
// which pass on what others need. Worked: 5.6 TB from 2048 hosts of 8 NICs of 50 GB/s to storage of
// 100 GB/s: 56 s. REQUIRES: storage rates unless write and read are given; pcie unless an async
// stall is given.
CheckpointCost checkpoint_cost(const CheckpointFacts& facts);

// A first level in the memory of hosts.
struct MemoryFacts {
  bool is_copied_to_peer = true;  // each part in the memory of another host too
  // What is written in the scenario instead of computed.
  std::optional<Seconds> stall, write, read;
};
// The stall is the copy of each device's part over PCIe. A copy to a peer takes at most half of the
// NICs beside training; a host that replaces another reads the lost part over all of its NICs, then
// all devices read theirs over PCIe.
// Worked: 5.6 TB on 16,384 devices of 2048 hosts of 8 NICs of 50 GB/s, PCIe of 50 GB/s: 342 MB
// each, a stall of 6.8 ms; 2.73 GB a host, written in 13.7 ms, read in 6.8 + 6.8 ms. REQUIRES: pcie
// unless stall and read are given; NICs where copied unless write and read are.
CheckpointCost memory_checkpoint_cost(const CheckpointFacts& facts, const MemoryFacts& memory);

}  // namespace sim::fault
