// Systems written by hand: one program a stream, waits by stream and number of steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "sim/network/run.h"

namespace sim::network {

// Waits until each of the streams has ended so many of its steps.
struct WaitFor {
  std::vector<std::int32_t> streams;
  std::int32_t steps = 1;
  std::uint8_t kind_in_progress = 0, kind_late = 0;
  std::vector<std::int32_t> reserve = {};  // resources
};

struct Operation {
  std::string label = {};
  Picoseconds lag = 0, work = 0;
  std::vector<Use> uses = {};
  std::vector<WaitFor> waits = {};
  std::int64_t weight = weight_one;
  std::int64_t reserve = 0;
  std::uint8_t kind = 0;
  std::vector<Part> parts = {};
};

class HandSystem {
 public:
  // Returns the number of the resource.
  std::int32_t resource(std::string name, std::int64_t capacity) {
    result_.capacity.push_back(capacity);
    resource_names_.push_back(std::move(name));
    return static_cast<std::int32_t>(result_.capacity.size()) - 1;
  }
  // Returns the number of the stream.
  std::int32_t stream(std::string name, std::vector<Operation> operations = {}) {
    result_.stream_names.push_back(std::move(name));
    operations_.push_back(std::move(operations));
    return static_cast<std::int32_t>(operations_.size()) - 1;
  }
  HandSystem& add(std::int32_t stream, Operation operation) {
    operations_[static_cast<std::size_t>(stream)].push_back(std::move(operation));
    return *this;
  }
  HandSystem& change(Picoseconds at, std::int32_t resource, std::int64_t capacity) {
    result_.changes.push_back({at, resource, capacity});
    return *this;
  }
  HandSystem& iterations(int count) {
    result_.iterations = count;
    return *this;
  }
  HandSystem& observe(std::int32_t resource) {
    result_.observed.push_back(resource);
    return *this;
  }

  // Equal uses of a stream share a footprint and equal waits a slot, so that rounds of operations
  // look alike. Otherwise each has its own.
  HandSystem& share() {
    shares_ = true;
    return *this;
  }

  // All streams are accounted and recorded. Milestone n is n steps.
  System take() const {
    System system = result_;
    system.resource_name = [names = resource_names_](std::int32_t r) {
      return names[static_cast<std::size_t>(r)];
    };
    std::size_t longest = 0;
    for (const auto& operations : operations_) longest = std::max(longest, operations.size());
    for (const auto& operations : operations_) write(operations, longest, shares_, system);
    return system;
  }

  const std::vector<std::vector<Operation>>& operations() const { return operations_; }

 private:
  template <typename T>
  static std::int32_t size(const std::vector<T>& list) {
    return static_cast<std::int32_t>(list.size());
  }

  static std::int32_t footprint(const std::vector<Coefficient>& coefficients, std::int32_t first,
                                System& system) {
    system.footprints.push_back({size(system.coefficients), size(coefficients)});
    system.coefficients.insert(system.coefficients.end(), coefficients.begin(), coefficients.end());
    return size(system.footprints) - 1 - first;
  }

  static void write(const std::vector<Operation>& operations, std::size_t longest, bool shares,
                    System& system) {
    Program program;
    for (std::size_t n = 0; n <= longest; ++n) {
      program.milestones.push_back(static_cast<std::int32_t>(n));
    }
    const Stream stream{.size = 1,
                        .program = size(system.programs),
                        .first_slot = size(system.slots),
                        .first_footprint = size(system.footprints),
                        .owner = 0,
                        .is_accounted = true,
                        .is_recorded = true};
    std::map<std::int32_t, std::int32_t> footprint_of;  // [resource]
    std::map<std::tuple<std::vector<std::int32_t>, std::uint8_t, std::uint8_t,
                        std::vector<std::int32_t>>,
             std::int32_t>
        slot_of;
    std::vector<std::pair<std::int32_t, std::vector<std::int32_t>>> reservations;  // by slot
    for (const Operation& operation : operations) {
      program.steps.push_back({.lag = operation.lag,
                               .work = operation.work,
                               .weight = operation.weight,
                               .reserve = operation.reserve,
                               .first_wait = size(program.waits),
                               .first_use = size(program.uses),
                               .first_part = size(program.parts),
                               .label = size(program.labels),
                               .wait_count = static_cast<std::uint16_t>(operation.waits.size()),
                               .use_count = static_cast<std::uint16_t>(operation.uses.size()),
                               .part_count = static_cast<std::uint16_t>(operation.parts.size()),
                               .kind = operation.kind});
      program.labels.push_back(operation.label);
      program.parts.insert(program.parts.end(), operation.parts.begin(), operation.parts.end());
      for (const WaitFor& wait : operation.waits) {
        const auto [slot, is_new] =
            slot_of.try_emplace({wait.streams, wait.kind_in_progress, wait.kind_late, wait.reserve},
                                size(system.slots) - stream.first_slot);
        if (!shares) slot->second = size(system.slots) - stream.first_slot;
        program.waits.push_back({slot->second, wait.steps, !wait.reserve.empty()});
        if (!is_new && shares) continue;
        reservations.emplace_back(size(system.slots), wait.reserve);
        system.slots.push_back(
            {size(system.members), size(wait.streams), wait.kind_in_progress, wait.kind_late});
        for (const std::int32_t member : wait.streams) system.members.push_back({member});
      }
      for (const Use& use : operation.uses) {
        const auto [known, is_new] = footprint_of.try_emplace(use.resource, -1);
        if (is_new || !shares) {
          known->second = footprint({{.resource = use.resource}}, stream.first_footprint, system);
        }
        program.uses.push_back({known->second, use.amount});
      }
    }
    for (const auto& [slot, resources] : reservations) {
      if (resources.empty()) continue;
      std::vector<Coefficient> reserved;
      for (const std::int32_t resource : resources) reserved.push_back({.resource = resource});
      const std::int32_t place = footprint(reserved, 0, system);
      const Slot& s = system.slots[static_cast<std::size_t>(slot)];
      for (std::int32_t m = s.first; m < s.first + s.count; ++m) {
        system.members[static_cast<std::size_t>(m)].footprint = place;
      }
    }
    system.programs.push_back(std::move(program));
    system.streams.push_back(stream);
  }

  System result_;
  std::vector<std::string> resource_names_;
  bool shares_ = false;
  std::vector<std::vector<Operation>> operations_;  // [stream]
};

// REQUIRES: it comes to an end.
inline Outcome outcome(const System& system) {
  auto result = run(system);
  if (const Stuck* stuck = std::get_if<Stuck>(&result)) {
    invariant(false, stuck->cycle.c_str());
  }
  return std::get<Outcome>(std::move(result));
}

inline constexpr Picoseconds millisecond = 1'000'000'000;

}  // namespace sim::network
