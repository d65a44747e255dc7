// Builds a program step by step.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/network/system.h"
#include "sim/training/result.h"

namespace sim::training {

class ProgramWriter {
 public:
  struct StepSpec {
    std::string label;
    Category category = Category::compute;
    Picoseconds lag = 0, work = 0;
    std::int64_t weight = weight_one, reserve = 0;
    std::vector<network::Wait> waits = {};
    std::vector<network::StepUse> uses = {};
    std::vector<network::Part> parts = {};
  };

  void add(const StepSpec& spec) {
    network::Step step;
    step.lag = spec.lag;
    step.work = spec.work;
    step.weight = spec.weight;
    step.reserve = spec.reserve;
    step.kind = static_cast<std::uint8_t>(spec.category);
    step.label = label(spec.label);
    step.first_wait = static_cast<std::int32_t>(program_.waits.size());
    step.wait_count = static_cast<std::uint16_t>(spec.waits.size());
    step.first_use = static_cast<std::int32_t>(program_.uses.size());
    step.use_count = static_cast<std::uint16_t>(spec.uses.size());
    step.first_part = static_cast<std::int32_t>(program_.parts.size());
    step.part_count = static_cast<std::uint16_t>(spec.parts.size());
    invariant(spec.waits.size() < 65536, "a step waits for too many slots");
    program_.waits.insert(program_.waits.end(), spec.waits.begin(), spec.waits.end());
    program_.uses.insert(program_.uses.end(), spec.uses.begin(), spec.uses.end());
    program_.parts.insert(program_.parts.end(), spec.parts.begin(), spec.parts.end());
    program_.steps.push_back(step);
  }

  std::int32_t size() const { return static_cast<std::int32_t>(program_.steps.size()); }

  // The milestone is reached when all steps so far have ended.
  void reach(std::int32_t milestone) { reach(milestone, size()); }
  void reach(std::int32_t milestone, std::int32_t steps) {
    auto& milestones = program_.milestones;
    if (milestones.size() <= static_cast<std::size_t>(milestone)) {
      milestones.resize(static_cast<std::size_t>(milestone) + 1, 0);
    }
    milestones[static_cast<std::size_t>(milestone)] = steps;
  }

  // What comes from here on is accounted; and no longer.
  void begin_account() { program_.accounted_from = size(); }
  void end_account() { program_.accounted_to = size(); }

  network::Program take() { return std::move(program_); }

 private:
  std::int32_t label(const std::string& text) {
    const auto [entry, is_new] =
        labels_.try_emplace(text, static_cast<std::int32_t>(program_.labels.size()));
    if (is_new) program_.labels.push_back(text);
    return entry->second;
  }

  network::Program program_;
  std::unordered_map<std::string, std::int32_t> labels_;
};

}  // namespace sim::training
