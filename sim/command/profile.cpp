// maquette profile: what a device really delivers, and how that was fitted.
#include "calibrate/profile/profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/command/options.h"
#include "sim/scenario/catalog.h"

namespace sim::command {

namespace po = boost::program_options;
namespace fitted = calibrate::profile;

namespace {

// A name of the catalog, or a file.
int show(const std::string& what, const Common& common) {
  Diagnostics diagnostics;
  try {
    const auto device = scenario::read_device(what, catalog(), diagnostics);
    if (report(diagnostics, common) || !device) return exit_wrong_input;
    if (device->is_ideal) {
      fmt::print("{}", fitted::describe(*fitted::ideal_profile(*device)));
    } else if (device->profile.empty()) {
      fmt::print("{}", fitted::describe(*fitted::datasheet_profile(*device)));
    } else {
      fmt::print("{}", fitted::describe(*fitted::read_profile(
                           catalog() / "devices" / device->profile, *device)));
    }
  } catch (const fitted::ProfileError& error) {
    fmt::print(stderr, "error: {}\n  why:  {}\n  hint: {}\n", error.message, error.why, error.hint);
    return exit_wrong_input;
  }
  return exit_fine;
}

// Becomes the program that fits. Returns only if it cannot.
int fit_public(const std::vector<std::string>& positional, const std::string& output) {
  if (positional.size() < 2) {
    throw UsageError{"no folder with the public measurements given",
                     "maquette profile fit-public FOLDER [DEVICE ...]"};
  }
  std::vector<std::string> arguments = {MAQUETTE_FIT, positional[1], output};
  arguments.insert(arguments.end(), positional.begin() + 2, positional.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execv(MAQUETTE_FIT, pointers.data());
  fmt::print(stderr, "error: cannot run {}: {}\n", MAQUETTE_FIT, std::strerror(errno));
  return exit_wrong_input;
}

}  // namespace

int profile(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  add_common(options);
  options.add_options()("out,o", po::value<std::string>()->default_value("."),
                        "folder that fitted profiles are written to");
  const auto values = parse({"maquette profile show DEVICE | fit-public FOLDER [DEVICE ...]",
                             "show: where the numbers of a device come from and how large their "
                             "error is on measurements that no fit saw. fit-public: fits profiles "
                             "from a folder of public measurements.",
                             "maquette profile show h100-sxm", "action", 1, 50},
                            options, arguments);
  if (!values) return exit_fine;
  const auto positional = (*values)["action"].as<std::vector<std::string>>();
  if (positional[0] == "show" && positional.size() == 2) {
    return show(positional[1], read_common(*values));
  }
  if (positional[0] == "fit-public") {
    return fit_public(positional, (*values)["out"].as<std::string>());
  }
  throw UsageError{fmt::format("unknown action '{}'", positional[0]),
                   "maquette profile show DEVICE, or maquette profile fit-public FOLDER"};
}

}  // namespace sim::command
