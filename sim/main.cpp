// maquette: the commands.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>

#include "sim/base/invariant.h"
#include "sim/command/options.h"

namespace {

struct Command {
  int (*run)(const std::vector<std::string>&);
  const char* about;
};

const std::map<std::string, Command>& commands() {
  static const std::map<std::string, Command> all = {
      {"run", {sim::command::run, "simulate a scenario"}},
      {"attribute", {sim::command::attribute, "what the stragglers of a scenario cost"}},
      {"check", {sim::command::check, "read a scenario, size its memory, list rank groups"}},
      {"catalog", {sim::command::list_catalog, "what can be named in a scenario; its JSON Schema"}},
      {"calibrate", {sim::command::calibrate, "measure this machine: a profile of its own"}},
      {"profile", {sim::command::profile, "show, fit, import or compare timing profiles"}},
      {"study", {sim::command::study, "simulate many scenarios and compare them"}},
      {"bench", {sim::command::bench, "record predictions of a suite; compare two records"}},
      {"replan", {sim::command::replan, "what to do about the slow devices of a scenario"}},
      {"report", {sim::command::write_report, "a page of a run, or of two side by side"}},
      {"validate", {sim::command::validate, "predict measured runs and report the error"}},
  };
  return all;
}

int usage(std::FILE* out) {
  fmt::print(out, "usage: maquette COMMAND ...\n\n");
  for (const auto& [name, command] : commands()) {
    fmt::print(out, "  {:9} {}\n", name, command.about);
  }
  fmt::print(out, "\nmaquette COMMAND --help says more, with an example\n");
  return out == stdout ? 0 : sim::command::exit_wrong_command_line;
}

// Memory that one part of a run frees serves the next: returning pages to the system and asking for
// them again takes a tenth of a short run.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int mebibyte = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 32 * mebibyte);
  mallopt(M_TRIM_THRESHOLD, 256 * mebibyte);
  mallopt(M_TOP_PAD, mebibyte);
#endif
}

}  // namespace

int main(int count, char** values) {
  keep_freed_memory();
  const std::vector<std::string> arguments(values + 1, values + count);
  if (arguments.empty()) return usage(stderr);
  if (arguments[0] == "--help" || arguments[0] == "help") return usage(stdout);
  const auto command = commands().find(arguments[0]);
  if (command == commands().end()) {
    std::vector<std::string> names;
    for (const auto& [name, c] : commands()) names.push_back(name);
    const auto near = sim::nearest(arguments[0], names);
    fmt::print(stderr, "error: unknown command '{}'\n", arguments[0]);
    if (near) fmt::print(stderr, "  hint: did you mean '{}'?\n", *near);
    return usage(stderr);
  }
  try {
    return command->second.run({arguments.begin() + 1, arguments.end()});
  } catch (const sim::command::UsageError& error) {
    fmt::print(stderr, "error: {}\n  hint: {}\n", error.message, error.hint);
    return sim::command::exit_wrong_command_line;
  } catch (const std::exception& error) {
    sim::bug(error.what());
  }
}
