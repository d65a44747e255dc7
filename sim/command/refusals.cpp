// Deadlocks, and jobs of which too much would be simulated.
#include "sim/command/refusals.h"

#include <fmt/format.h>

#include "analysis/json.h"

namespace sim::command {

int stuck(const training::Stuck& stuck, const Common& common) {
  const std::string message =
      fmt::format("the job cannot proceed: at {} ps everything waits", stuck.at);
  fmt::print(stderr, "error: {}\n{}", message, stuck.cycle);
  if (common.is_json) {
    Diagnostics diagnostics;
    diagnostics.error({}, message, stuck.cycle);
    fmt::print("{}\n", analysis::errors_json(diagnostics));
  }
  return exit_cannot_proceed;
}

int too_large(const training::TooLarge& large, const Place& place, const Common& common) {
  Diagnostics diagnostics;
  diagnostics.error(
      place,
      fmt::format("{} ranks would be simulated one by one; {} is the most", large.ranks,
                  large.most),
      "few of them provably do the same: replicas can stand for each other only where hosts, "
      "leaves "
      "and pods hold whole blocks of them, paths are sprayed and gradients are reduced along rings",
      "see docs/decisions/0017");
  report(diagnostics, common);
  return exit_wrong_input;
}

}  // namespace sim::command
