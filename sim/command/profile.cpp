// maquette profile: what a device really delivers, and how that was fitted.
#include "calibrate/profile/profile.h"

#include <fmt/format.h>

#include <filesystem>

#include "calibrate/profile/compare.h"
#include "calibrate/profile/profile_data.h"
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
    if (what.ends_with(".h5")) {
      fitted::ProfileData data = fitted::read_profile_data(what);
      fitted::DeviceType device;
      device.name = data.device;
      device.full_name = what;
      fmt::print("{}", fitted::describe(*fitted::profile_of(std::move(data), device)));
      return exit_fine;
    }
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
  std::vector<std::string> arguments = {positional[1], output};
  arguments.insert(arguments.end(), positional.begin() + 2, positional.end());
  return become(MAQUETTE_FIT, arguments);
}

// Exit code 4 where the second is slower.
int compare(const std::string& before, const std::string& after) {
  try {
    const auto measured = [](const std::string& file) {
      fitted::ProfileData data = fitted::read_profile_data(file);
      if (!data.measurement.cases.empty()) return std::move(data.measurement);
      throw fitted::ProfileError{fmt::format("profile '{}' holds no samples", file),
                                 "what was fitted to public tables keeps none",
                                 "compare two files of 'maquette calibrate'"};
    };
    const fitted::Comparison comparison = fitted::compare(measured(before), measured(after));
    if (comparison.operations.empty()) {
      fmt::print(stderr, "error: the two profiles have no shape in common\n");
      return exit_wrong_input;
    }
    fmt::print("{}", fitted::describe(comparison));
    return comparison.is_slower() ? exit_regression : exit_fine;
  } catch (const fitted::ProfileError& error) {
    fmt::print(stderr, "error: {}\n  why:  {}\n  hint: {}\n", error.message, error.why, error.hint);
    return exit_wrong_input;
  }
}

}  // namespace

int profile(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "import") return become(MAQUETTE_CALIBRATE, arguments);
  po::options_description options("options");
  add_common(options);
  options.add_options()("out,o", po::value<std::string>()->default_value("."),
                        "folder that fitted profiles are written to");
  const auto values =
      parse({"maquette profile show DEVICE | compare BEFORE AFTER | import FILE ... | fit-public "
             "FOLDER [DEVICE ...]",
             "show: where the numbers of a device come from and how large their "
             "error is on measurements that no fit saw; of a device of the catalog, or of "
             "a file. compare: which kernels and collectives got slower, beyond "
             "noise. import: 'maquette profile import --help'. fit-public: fits profiles "
             "from a folder of public measurements.",
             "maquette profile show h100-sxm", "action", 1, 50},
            options, arguments);
  if (!values) return exit_fine;
  const auto positional = (*values)["action"].as<std::vector<std::string>>();
  if (positional[0] == "show" && positional.size() == 2) {
    return show(positional[1], read_common(*values));
  }
  if (positional[0] == "compare" && positional.size() == 3) {
    return compare(positional[1], positional[2]);
  }
  if (positional[0] == "fit-public") {
    return fit_public(positional, (*values)["out"].as<std::string>());
  }
  throw UsageError{fmt::format("unknown action '{}'", positional[0]),
                   "maquette profile show DEVICE, or maquette profile fit-public FOLDER"};
}

}  // namespace sim::command
