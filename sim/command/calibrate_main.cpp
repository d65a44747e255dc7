// maquette-calibrate calibrate | import ...: measures and fits. A program of its own, so that
// neither OpenBLAS nor the solver is part of every other command.
#include <fmt/format.h>

#include <exception>

#include "sim/base/invariant.h"
#include "sim/command/calibrate_host.h"
#include "sim/command/import_profile.h"
#include "sim/command/options.h"

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  const std::string action = arguments.empty() ? "" : arguments.front();
  const std::vector<std::string> rest(arguments.begin() + (action.empty() ? 0 : 1),
                                      arguments.end());
  try {
    if (action == "calibrate") return sim::command::calibrate_here(rest);
    if (action == "import") return sim::command::import_profile(rest);
    throw sim::command::UsageError{"not a command of its own", "maquette calibrate --host"};
  } catch (const sim::command::UsageError& error) {
    fmt::print(stderr, "error: {}\n  hint: {}\n", error.message, error.hint);
    return sim::command::exit_wrong_command_line;
  } catch (const std::exception& error) {
    sim::bug(error.what());
  }
}
