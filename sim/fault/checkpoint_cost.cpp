// Each time with the rate that bounds it.
#include "sim/fault/checkpoint_cost.h"

#include <fmt/format.h>

#include "sim/base/invariant.h"
#include "sim/base/units.h"

namespace sim::fault {
namespace {

struct Bound {
  BytesPerSecond rate;
  std::string what;
};

Bound bound(std::optional<BytesPerSecond> storage, int hosts, double share_of_nic,
            const CheckpointFacts& facts) {
  invariant(storage.has_value(), "a checkpoint without times or storage");
  Bound result{*storage, "the storage"};
  if (facts.nics == 0) return result;
  const BytesPerSecond nics = facts.nic * (share_of_nic * hosts * facts.nics);
  if (nics < result.rate) {
    result = {nics,
              fmt::format("{}{} NICs", share_of_nic < 1 ? "half of " : "", hosts * facts.nics)};
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
  const Seconds write =
      timed("written", facts.write,
            by(facts.storage_write, facts.write, facts.writing_hosts, facts.is_async ? 0.5 : 1),
            facts, cost.notes);
  cost.read = timed("read", facts.read, by(facts.storage_read, facts.read, facts.hosts, 1), facts,
                    cost.notes);
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
    const BytesPerSecond asked = each / write, most = facts.nic * 0.5;
    cost.per_nic = asked < most ? asked : most;
  }
  return cost;
}

}  // namespace sim::fault
