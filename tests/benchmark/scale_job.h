// Smaller jobs of the kind of scenarios/scale, loaded and ready to run.
#pragma once

#include <fmt/format.h>

#include "sim/command/load.h"
#include "sim/command/options.h"

namespace sim {

// GPT-3 175B, 8 tensor-parallel ranks, 32 micro-batches.
inline command::LoadedJob scale_job(int stages, int replicas) {
  const std::string file = MAQUETTE_SOURCE "/scenarios/scale/16k.yaml";
  const std::vector<scenario::Override> overrides = {
      {"cluster.hosts.0.count", fmt::format("{}", stages * replicas)},
      {"plan.pipeline.stages", fmt::format("{}", stages)},
      {"training.global_batch", fmt::format("{}", 32 * replicas)}};
  Diagnostics diagnostics;
  const auto scenario = scenario::read_scenario(file, overrides, command::catalog(), diagnostics);
  auto loaded = scenario ? command::load(*scenario, diagnostics) : std::nullopt;
  invariant(loaded.has_value(), "a scenario of the repository cannot be read");
  return std::move(*loaded);
}

}  // namespace sim
