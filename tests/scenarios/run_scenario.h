// Reads and runs a scenario of the repository.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/training/simulate.h"

namespace sim {

inline std::filesystem::path repository() { return MAQUETTE_SOURCE; }

struct ScenarioRun {
  scenario::Scenario scenario;
  training::Result result;
};

inline ScenarioRun run_scenario(const std::filesystem::path& file,
                                const std::vector<scenario::Override>& overrides = {},
                                bool folds = true, bool skips = true) {
  Diagnostics diagnostics;
  const auto read = scenario::read_scenario(file, overrides, command::catalog(), diagnostics);
  INFO(diagnostics.text());
  REQUIRE(read);
  auto loaded = command::load(*read, diagnostics);
  REQUIRE(loaded);
  loaded->job.folds = folds;
  loaded->job.skips = skips;
  auto outcome = training::simulate(loaded->job);
  REQUIRE(std::holds_alternative<training::Result>(outcome));
  return {*read, std::get<training::Result>(std::move(outcome))};
}

inline std::vector<std::filesystem::path> scenario_files(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(repository() / folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace sim
