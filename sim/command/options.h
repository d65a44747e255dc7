// What every command shares: its options, how it fails, where the catalog is.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/diagnostics.h"
#include "sim/scenario/scenario.h"

namespace sim::command {

enum ExitCode : int {
  exit_fine = 0,
  exit_wrong_input = 1,
  exit_wrong_command_line = 2,
  exit_cannot_proceed = 3,
  exit_regression = 4,
};

// A wrong command line: the message goes to stderr, with how to get help.
struct UsageError {
  std::string message, hint;
};

struct Common {
  bool is_json = false, is_quiet = false, is_strict = false;
  std::vector<scenario::Override> overrides;
};

// Adds --json, --quiet, --strict, --set, --help.
void add_common(boost::program_options::options_description& options);
Common read_common(const boost::program_options::variables_map& values);
// Throws UsageError where a text is not PATH=VALUE.
std::vector<scenario::Override> read_overrides(const std::vector<std::string>& texts,
                                               const std::string& option);

// Parses `arguments`; positional arguments go to `positional`, at least and at most so many.
// Prints the help and returns nothing when asked for it.
struct Syntax {
  std::string usage;    // "maquette run SCENARIO [options]"
  std::string about;    // one paragraph
  std::string example;  // a command line
  std::string positional;
  int least = 1, most = 1;
};
std::optional<boost::program_options::variables_map> parse(
    const Syntax& syntax, boost::program_options::options_description options,
    const std::vector<std::string>& arguments);

// Prints diagnostics to stderr, or with --json as an object on stdout. Returns whether to stop:
// errors, or warnings under --strict.
bool report(const Diagnostics& diagnostics, const Common& common);

std::filesystem::path catalog();

// Becomes another program of ours. Returns, with an exit code, only if it cannot.
int become(const std::string& program, std::vector<std::string> arguments);

int run(const std::vector<std::string>& arguments);
int attribute(const std::vector<std::string>& arguments);
int check(const std::vector<std::string>& arguments);
int list_catalog(const std::vector<std::string>& arguments);
int profile(const std::vector<std::string>& arguments);
int bench(const std::vector<std::string>& arguments);
int study(const std::vector<std::string>& arguments);
int compare_scenarios(const std::vector<std::string>& arguments);
int replan(const std::vector<std::string>& arguments);
int write_report(const std::vector<std::string>& arguments);
int calibrate(const std::vector<std::string>& arguments);
int validate(const std::vector<std::string>& arguments);

}  // namespace sim::command
