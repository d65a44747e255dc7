// maquette calibrate: becomes the program that measures, which needs what this one does without.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/command/options.h"

namespace sim::command {

int become(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  fmt::print(stderr, "error: cannot run {}: {}\n  hint: build it with 'ninja -C build'\n", program,
             std::strerror(errno));
  return exit_wrong_input;
}

int calibrate(const std::vector<std::string>& arguments) {
  std::vector<std::string> passed{"calibrate"};
  passed.insert(passed.end(), arguments.begin(), arguments.end());
  return become(MAQUETTE_CALIBRATE, passed);
}

}  // namespace sim::command
