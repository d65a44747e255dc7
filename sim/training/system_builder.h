// Collects streams with their slots and footprints, then lays them out flat.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/network/system.h"
#include "sim/training/communication.h"
#include "sim/training/result.h"

namespace sim::training {

// What a resource is: a link, or a device's multiprocessors, memory or launches by its host.
struct ResourceOrigin {
  enum class Kind { link, multiprocessors, memory, launches };
  Kind kind = Kind::link;
  std::int32_t index = 0;  // of the link, or of the device
};

class SystemBuilder {
 public:
  using StreamId = std::int32_t;
  struct MemberSpec {
    StreamId stream = 0;
    std::int32_t footprint = -1;  // of the waiting stream's footprints; -1: reserves nothing
  };
  struct SlotSpec {
    std::vector<MemberSpec> members;
    Category in_progress = Category::other, late = Category::other;
  };
  using FootprintSpec = std::vector<network::Coefficient>;

  // Which simulated resources a stream loads where its path has a resource, and for how many
  // streams like it each carries the load.
  using AddBearer = std::function<void(const ResourceOrigin& bearer, std::int64_t count)>;
  using BearersOf = std::function<void(const ResourceOrigin&, const AddBearer&)>;

  explicit SystemBuilder(const Job& job) : job_(job), cluster_(*job.cluster) {}

  // Resources exist from when they are first asked for.
  std::int32_t link(LinkIndex link) { return resource({ResourceOrigin::Kind::link, link}); }
  std::int32_t multiprocessors(DeviceIndex device) {
    return resource({ResourceOrigin::Kind::multiprocessors, device});
  }
  std::int32_t memory(DeviceIndex device) {
    return resource({ResourceOrigin::Kind::memory, device});
  }
  // In units of multiprocessors_one.
  std::int32_t launches(DeviceIndex device) {
    return resource({ResourceOrigin::Kind::launches, device});
  }
  const std::vector<ResourceOrigin>& origins() const { return origins_; }  // [resource]

  std::int32_t add_program(network::Program program);
  // The same program for equal keys; `make` is called for a new key only.
  template <class Make>
  std::int32_t program(const std::string& key, Make make) {
    const auto found = by_key_.find(key);
    if (found != by_key_.end()) return found->second;
    const std::int32_t index = add_program(make());
    by_key_.emplace(key, index);
    return index;
  }
  const network::Program& program_at(std::int32_t index) const {
    return system_.programs[static_cast<std::size_t>(index)];
  }

  StreamId add_stream(std::string name, std::int32_t program, std::int32_t owner);
  network::Stream& stream(StreamId id) { return system_.streams[static_cast<std::size_t>(id)]; }
  void set_slots(StreamId id, std::vector<SlotSpec> slots);
  void set_footprints(StreamId id, std::vector<FootprintSpec> footprints);

  FootprintSpec multiprocessors_of(std::span<const DeviceIndex> devices);
  FootprintSpec memory_of(std::span<const DeviceIndex> devices);
  FootprintSpec path(const Path& path, const BearersOf& bearers_of = nullptr);

  void change(network::CapacityChange change) { system_.changes.push_back(change); }
  std::span<const network::CapacityChange> changes() const { return system_.changes; }
  std::int64_t capacity(std::int32_t resource) const {
    return system_.capacity[static_cast<std::size_t>(resource)];
  }

  // [resource] the most that can come through it, by what is around it; INT64_MAX where that says
  // nothing.
  std::vector<std::int64_t> most_through() const;

  static constexpr double amounts_per_byte = 1e6;
  // Millionths of a byte (or of work) through every resource in one iteration: [resource]. Rounded
  // for each stream, so that the sums do not depend on who stands for whom.
  static std::vector<Int128> amounts(const network::System& system);
  network::System take(int iterations);

 private:
  std::int32_t resource(const ResourceOrigin& origin);
  std::int64_t memory_rate(DeviceIndex device);

  const Job& job_;
  const topology::Cluster& cluster_;
  network::System system_;
  std::vector<ResourceOrigin> origins_;  // [resource]
  std::unordered_map<std::int64_t, std::int32_t> resource_of_;
  std::map<std::string, std::int64_t, std::less<>> memory_rates_;  // by device type
  std::map<std::string, std::int32_t> by_key_;
  std::vector<std::vector<SlotSpec>> slots_;            // [stream]
  std::vector<std::vector<FootprintSpec>> footprints_;  // [stream]
};

}  // namespace sim::training
