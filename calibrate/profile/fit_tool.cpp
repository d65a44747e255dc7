// maquette-fit DATA OUTPUT [DEVICE...]: writes the profiles that the catalog ships. A program of
// its own, so that loading the solver and what it needs is not part of every other command.
#include <fmt/format.h>

#include <cstdio>

#include "calibrate/profile/fit.h"

int main(int count, char** arguments) {
  using namespace calibrate::profile;
  if (count < 3) {
    fmt::print(stderr, "usage: maquette-fit DATA OUTPUT [DEVICE...]\n");
    return 2;
  }
  std::vector<std::string> names(arguments + 3, arguments + count);
  if (names.empty()) names = public_device_names();
  try {
    for (const std::string& name : names) {
      const auto file = fit_public_profile(name, arguments[1], arguments[2]);
      fmt::print("{}\n", file.string());
    }
  } catch (const ProfileError& error) {
    fmt::print(stderr, "error: {}\n  why:  {}\n  hint: {}\n", error.message, error.why, error.hint);
    return 1;
  }
}
