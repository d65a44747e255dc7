// maquette validate of nccl-tests: measured collectives against predicted ones.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>

#include "analysis/collective_errors.h"
#include "sim/command/options.h"
#include "sim/scenario/measured_collectives.h"

namespace sim::command {

void add_collective_options(boost::program_options::options_description& options);

// Whether a file is taken for a table or a log of collectives: anything but YAML.
bool holds_collectives(const std::string& file);

struct CollectiveOptions {
  std::string cluster =
      {};                  // name in the catalog or file of a scenario; empty: what a table states
  std::string match = {};  // only runs whose id contains this
  std::string leave_one_out = {};  // folder of public measurements; empty: constants as shipped
  scenario::LogFacts facts = {};
  collective::Forced forced = {};
};
// What is wrong goes to `diagnostics`; then nothing is returned.
std::optional<analysis::CollectiveReport> collective_report(const std::string& file,
                                                            const CollectiveOptions& options,
                                                            const Common& common,
                                                            Diagnostics& diagnostics);

// Returns the exit code.
int validate_collectives(const std::string& file,
                         const boost::program_options::variables_map& values, const Common& common);

}  // namespace sim::command
