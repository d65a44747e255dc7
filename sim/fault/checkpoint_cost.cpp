// Each time with the rate that bounds it.
#include "sim/fault/checkpoint_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/invariant.h"
#include "sim/base/units.h"

namespace sim::fault {
namespace {

struct Bound {
  BytesPerSecond rate;
  std::string what;
  double room = std::numeric_limits<double>::infinity();  // the storage's rate over this one
};

bool is_by_up_link(const CheckpointFacts& facts) {
  return facts.up.value() > 0 && facts.up < facts.nic;
}

// Of a NIC and its way to the storage.
BytesPerSecond way_of_nic(const CheckpointFacts& facts) {
  return is_by_up_link(facts) ? facts.up : facts.nic;
}

Bound bound(std::optional<BytesPerSecond> storage, int hosts, double share_of_nic,
            const CheckpointFacts& facts) {
  invariant(storage.has_value(), "a checkpoint without times or storage");
  Bound result{*storage, "the storage", 1};
  if (facts.nics == 0) return result;
  const BytesPerSecond nics = way_of_nic(facts) * (share_of_nic * hosts * facts.nics);
  if (nics < result.rate) {
    result = {nics,
              fmt::format("{}{}{} NICs", share_of_nic < 1 ? "half of " : "",
                          is_by_up_link(facts) ? "the up links of " : "", hosts * facts.nics),
              *storage / nics};
  }
  return result;
}

Seconds timed(const char* verb, std::optional<Seconds> given, const Bound& by,
              const CheckpointFacts& facts, std::vector<std::string>& notes) {
  if (given) {
    notes.push_back(fmt::format("checkpoint {} in {}, as written", verb, to_text(*given)));
    return *given;
  }
  const Seconds time = facts.size / by.rate;
  notes.push_back(fmt::format("checkpoint {} in {}: {} at {} of {}", verb, to_text(time),
                              to_text(facts.size), to_text(by.rate), by.what));
  return time;
}

}  // namespace

CheckpointCost checkpoint_cost(const CheckpointFacts& facts) {
  CheckpointCost cost;
  const auto by = [&](std::optional<BytesPerSecond> storage, std::optional<Seconds> given,
                      int hosts, double share) {
    return given ? Bound{} : bound(storage, hosts, share, facts);
  };
  const Bound writing =
      by(facts.storage_write, facts.write, facts.writing_hosts, facts.is_async ? 0.5 : 1);
  const Bound reading = by(facts.storage_read, facts.read, facts.hosts, 1);
  const Seconds write = timed("written", facts.write, writing, facts, cost.notes);
  cost.read = timed("read", facts.read, reading, facts, cost.notes);
  cost.write_room = writing.room;
  cost.read_room = reading.room;
  if (!facts.is_async) {
    cost.stall = cost.drain = write;
    return cost;
  }
  cost.write = write;
  if (facts.stall) {
    cost.stall = *facts.stall;
    cost.notes.push_back(
        fmt::format("training stops for {} to save, as written", to_text(cost.stall)));
  } else {
    invariant(facts.pcie.value() > 0, "an asynchronous checkpoint without a rate of PCIe");
    const Bytes each = facts.size / facts.writing_devices;
    cost.stall = each / facts.pcie;
    cost.notes.push_back(
        fmt::format("training stops for {} to save: {} of each device at {} of PCIe",
                    to_text(cost.stall), to_text(each), to_text(facts.pcie)));
  }
  cost.drain = cost.stall + write;
  if (facts.nics > 0 && write.value() > 0) {
    const Bytes each = facts.size / (static_cast<double>(facts.writing_hosts) * facts.nics);
    // A given time may ask for more than a NIC has.
    const BytesPerSecond asked = each / write, most = way_of_nic(facts) * 0.5;
    cost.per_nic = asked < most ? asked : most;
  }
  return cost;
}

CheckpointCost memory_checkpoint_cost(const CheckpointFacts& facts, const MemoryFacts& memory) {
  CheckpointCost cost;
  const Bytes of_device = facts.size / facts.writing_devices;
  const Bytes of_host = facts.size / facts.writing_hosts;
  const auto by_pcie = [&] {
    invariant(facts.pcie.value() > 0, "a checkpoint in memory without a rate of PCIe");
    return of_device / facts.pcie;
  };
  const auto by_nics = [&](double share) {
    invariant(facts.nics > 0, "a checkpoint in the memory of peers without NICs");
    return of_host / (facts.nic * (share * facts.nics));
  };
  const bool is_copied = memory.is_copied_to_peer;
  cost.stall = memory.stall ? *memory.stall : by_pcie();
  if (memory.write || is_copied) cost.write = memory.write ? *memory.write : by_nics(0.5);
  cost.read = memory.read ? *memory.read : by_pcie() + (is_copied ? by_nics(1) : Seconds(0));
  cost.drain = cost.stall + cost.write;
  if (is_copied && facts.nics > 0 && cost.write.value() > 0) {
    cost.per_nic = std::min(of_host / facts.nics / cost.write, facts.nic * 0.5);
  }
  cost.notes.push_back(fmt::format(
      "checkpoint in the memory of {}: training stops for {}, it is copied in {} and read in {}",
      is_copied ? "the host and of a peer" : "the host", to_text(cost.stall), to_text(cost.write),
      to_text(cost.read)));
  return cost;
}

}  // namespace sim::fault
