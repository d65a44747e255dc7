// Collects streams with their slots and footprints, then lays them out flat.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/network/system.h"
#include "sim/training/communication.h"
#include "sim/training/result.h"

namespace sim::training {

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

  // Resources: all links, then multiprocessors and memory of each device.
  // `memory_rate[device]` in bytes/s.
  SystemBuilder(const topology::Cluster& cluster, const std::vector<std::int64_t>& memory_rate);

  std::int32_t link(LinkIndex link) const { return link; }
  std::int32_t multiprocessors(DeviceIndex device) const { return links_ + 2 * device; }
  std::int32_t memory(DeviceIndex device) const { return links_ + 2 * device + 1; }

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

  FootprintSpec multiprocessors_of(std::span<const DeviceIndex> devices) const;
  FootprintSpec memory_of(std::span<const DeviceIndex> devices) const;
  FootprintSpec path(const Path& path) const;

  void change(network::CapacityChange change) { system_.changes.push_back(change); }
  std::int64_t capacity(std::int32_t resource) const {
    return system_.capacity[static_cast<std::size_t>(resource)];
  }

  // Bytes (or work) through every resource in one iteration: [resource].
  static std::vector<double> amounts(const network::System& system);
  network::System take(int iterations);

 private:
  std::int32_t links_ = 0;
  network::System system_;
  std::map<std::string, std::int32_t> by_key_;
  std::vector<std::vector<SlotSpec>> slots_;            // [stream]
  std::vector<std::vector<FootprintSpec>> footprints_;  // [stream]
};

}  // namespace sim::training
